const NOTATION = 'tells how to read it';
const OPEN = 'leaves something open';
const ITSELF = 'is about the specification itself';

/** Sentences without a testable statement about a hub, with the reason. */
export const ASIDES: Readonly<Record<string, string>> = {
  'Location Hub Service Specification sentence 1': ITSELF,
  'Location Hub Service Specification sentence 2': NOTATION,
  'Location Hub Service Specification sentence 3': NOTATION,
  'Resources and their fields sentence 1': NOTATION,
  'License sentence 2': OPEN,
  'States and transitions sentence 1': OPEN,
  'States and transitions sentence 4': OPEN,
  'Endpoints sentence 3': NOTATION,
  'Endpoints sentence 4': NOTATION,
  'Endpoints sentence 5': NOTATION,
  'Endpoints sentence 6': OPEN,
  'Authorization item 6': OPEN,
  'Authorization item 7': OPEN,
  'WebSocket API sentence 10': OPEN,
  'Errors sentence 1': OPEN,
  'Limits sentence 1': OPEN,
};
