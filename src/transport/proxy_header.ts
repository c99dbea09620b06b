import { isIPv4 } from 'node:net';
import { Transform } from 'node:stream';

/**
 * PROXY protocol, version 2: a header at the start of a connection that tells a server behind a proxy the address of
 * the client.
 */

/** Signature of the header, which is not valid HTTP. */
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const VERSION_2_PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
/** Source and destination ports, which are not used. */
const PORTS = Buffer.alloc(4);

/** Returns the header for a connection from an address in the format of node:net. */
export function proxyHeader(address: string): Buffer {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  const [family, bytes] = isIPv4(plain) ? [TCP_OVER_IPV4, ipv4(plain)] : [TCP_OVER_IPV6, ipv6(plain)];
  // The client's address, also in place of the server's address, and the ports.
  const addresses = Buffer.concat([bytes, bytes, PORTS]);
  return Buffer.concat([SIGNATURE, Buffer.from([VERSION_2_PROXY, family, 0, addresses.length]), addresses]);
}

function ipv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** Returns the 16 bytes of an IPv6 address, which may be abbreviated and have a scope. */
function ipv6(address: string): Buffer {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const between = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...between, ...after].slice(0, 8).map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/**
 * Returns a transform that passes on a client's bytes, but fails and closes the stream if they contain a PROXY header.
 * The native server accepts a header before every request, so a client could forge its address.
 */
export function refuseProxyHeaders(): Transform {
  let last = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const seam = Buffer.concat([last, chunk.subarray(0, SIGNATURE.length)]);
      if (chunk.includes(SIGNATURE) || seam.includes(SIGNATURE)) {
        done(new Error('A client has sent a PROXY header'));
        return;
      }
      const kept = chunk.length < SIGNATURE.length ? Buffer.concat([last, chunk]) : chunk;
      last = Buffer.from(kept.subarray(Math.max(0, kept.length - SIGNATURE.length + 1)));
      done(null, chunk);
    },
  });
}
