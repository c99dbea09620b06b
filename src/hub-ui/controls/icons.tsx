import type { JSX } from 'preact';

/** Icons on a grid of 24 units, drawn with lines of equal width. */
const PATHS = {
  home: 'M3.5 11.5 12 4l8.5 7.500M6 9.500V20h12V9.500M10 20v-6h4v6',
  map: 'M9 4 3.5 6.2v13.3L9 17.3l6 2.4 5.5-2.2V4.2L15 6.4 9 4Zm0 0v13.3m6-10.9v13.3',
  zone: 'M4 8V4h4m8 0h4v4m0 8v4h-4m-8 0H4v-4m5-7h6v6H9z',
  fence: 'M12 3.5 20 9l-3 10.5H7L4 9zM12 3.5',
  trackable: 'M3.5 8 12 3.5 20.5 8v8L12 20.5 3.5 16zM3.5 8 12 12.4 20.5 8M12 12.4v8.1',
  provider:
    'M12 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm-4.6 3.1a6.5 6.5 0 0 1 0-9.2m9.2 0a6.5 6.5 0 0 1 0 9.2M4.5 19.5a10.6 10.6 0 0 1 0-15m15 0a10.6 10.6 0 0 1 0 15',
  rule: 'M4 7h9m4 0h3M4 17h3m4 0h9M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-6 10a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  list: 'M8.5 6h12m-12 6h12m-12 6h12M4 6h.01M4 12h.01M4 18h.01',
  event: 'M13 3 5 13.5h6L10 21l8-10.5h-6z',
  operation: 'M3.5 12.5h4l2.5-7 4 13 2.5-6h4',
  anchor: 'M12 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm0 0v13m-8-8a8 8 0 0 0 16 0M8 12h8',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm9 2-4-4',
  close: 'M6 6l12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  layers: 'm12 3.5 8.5 4.7L12 13 3.5 8.200zM3.5 12.5 12 17.200l8.5-4.700M3.5 16.5 12 21.200l8.5-4.7',
  stack: 'm12 2.5 8.500 3.500-8.500 3.500L3.5 6zM3.5 12l8.500 3.500 8.500-3.500M3.5 17.5 12 21l8.500-3.500',
  ruler: 'M3.5 15.5 15.5 3.500l5 5-12 12zM7 12l2 2m1-5 3 3m0-6 2 2',
  lasso:
    'M7 20c-2 0-2.500-2-1-3 2-1.300 4 .5 3.500 2.500M6 16.500C4 15 3 13 3 11c0-4 4-7 9-7s9 3 9 7-4 7-9 7c-.8 0-1.600-.1-2.400-.2',
  target: 'M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm0-3.500v-7M12 2v3m0 14v3M2 12h3m14 0h3',
  label: 'M4 5h9l7 7-8 8-8-8zM8 9h.01',
  tail: 'M4 18c4 0 3-6 7-6s3 4 7 0m-3.5-.500H18V15',
  globe: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3.500 9h17M3.500 15h17M12 3c-4 5-4 13 0 18M12 3c4 5 4 13 0 18',
  frame: 'M4 9V4h5M15 4h5v5m0 6v5h-5M9 20H4v-5',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.6 5.600l1.4 1.400m10 10 1.4 1.400m0-12.800L17 7M7 17l-1.4 1.4',
  moon: 'M20 14.500A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.500Z',
  system: 'M4 5h16v11H4zm5 15h6m-3-4v4',
  edit: 'm4 20 1-4L16.5 4.500l3 3L8 19zm10-13 3 3',
  trash: 'M4 7h16M9 7V4h6v3m-8.5 0 1 13h9l1-13M10 11v5m4-5v5',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  download: 'M12 4v11m-5-5 5 5 5-5M4 20h16',
  upload: 'M12 15V4M7 9l5-5 5 5M4 20h16',
  undo: 'M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
  redo: 'm15 14 5-5-5-5m5 5H10a6 6 0 0 0 0 12h3',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-5v-5m0-3h.01',
  warning: 'M12 4 2.5 20h19zM12 10v4m0 3h.01',
  check: 'm5 12.5 4.5 4.500L19 7.5',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4.500v15l12-7.500z',
  down: 'm6 9 6 6 6-6',
  up: 'm6 15 6-6 6 6',
  right: 'm9 6 6 6-6 6',
  left: 'm15 6-6 6 6 6',
  link: 'M14 5h5v5m0-5-8 8M11 6H5v13h13v-6',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8.500a7.5 7.5 0 0 1 15 0',
  lock: 'M6 11h12v9H6zm2.5 0V8a3.5 3.5 0 0 1 7 0v3',
  filter: 'M4 5h16l-6 7.500V19l-4-2v-4.500z',
  flow: 'M4 7h11m-3-3 3 3-3 3m8 7H9m3-3-3 3 3 3',
  code: 'm8 7-5 5 5 5m8-10 5 5-5 5',
  bell: 'M6 10a6 6 0 0 1 12 0c0 5 2 6.500 2 6.500H4S6 15 6 10Zm4 9.500a2 2 0 0 0 4 0',
  bellOff:
    'M8.500 5.200A6 6 0 0 1 18 10c0 1.500.200 2.700.500 3.600M16 16.500H4s2-1.500 2-6.500q0-.700.200-1.400M10 19.500a2 2 0 0 0 4 0M4 4l16 16',
  bookmark: 'M6 4h12v16.500l-6-4.500-6 4.500z',
  star: 'm12 4 2.500 5.200 5.500.800-4 4 1 5.700L12 17l-5 2.700 1-5.700-4-4 5.500-.800z',
  sink: 'M4 12h11m-4.500-4.500L15 12l-4.500 4.500M20 4v16',
  hubs: 'M6.500 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm11 0a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM10 12h4',
  send: 'm4 11 16-7-7 16-2.500-6.500zM10.500 13.500 20 4',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3 2',
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative icon next to text or in a labeled button. */
export function Icon({ name, ...rest }: { name: IconName } & Omit<JSX.SVGAttributes<SVGSVGElement>, 'name'>) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="18"
      height="18"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      {...rest}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Logo of the hub, in its own colors. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f766e" />
      <circle cx="16" cy="16" r="3.5" fill="#fff" />
      <path
        d="M9.6 22.4a9 9 0 0 1 0-12.8M22.4 9.6a9 9 0 0 1 0 12.8"
        fill="none"
        stroke="#fff"
        stroke-width="2.5"
        stroke-linecap="round"
      />
    </svg>
  );
}
