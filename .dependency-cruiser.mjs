// Which file may import which. The rules are made in test/tidy/import_rules.ts of the table in test/tidy/areas.ts, and
// test/tidy.test.ts enforces them; this file lets the command line of dependency-cruiser read them, too.
import { FORBIDDEN, OPTIONS } from './test/tidy/import_rules.ts';

export default { forbidden: FORBIDDEN, options: OPTIONS };
