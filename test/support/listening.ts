import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the TCP ports that this process listens on, and the paths of its other listening sockets (proc(5)). */
export function listening(): { readonly ports: readonly number[]; readonly paths: readonly string[] } {
  const own = new Set(readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`)));
  const rowsOf = (table: string) => {
    const [, ...rows] = readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n');
    return rows.map((row) => row.trim().split(/ +/));
  };
  const ports = [...rowsOf('tcp'), ...rowsOf('tcp6')].flatMap(([, local = '', , state, , , , , , inode]) => {
    return state === '0A' && own.has(`socket:[${inode}]`) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
  const paths = rowsOf('unix').flatMap(([, , , flags, , , inode, path]) => {
    const isListening = (Number.parseInt(flags ?? '', 16) & 0x10000) !== 0;
    return isListening && path !== undefined && own.has(`socket:[${inode}]`) ? [path] : [];
  });
  return { ports: [...new Set(ports)], paths };
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // The listing includes its own descriptor, which is already closed.
  }
}
