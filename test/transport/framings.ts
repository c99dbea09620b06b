/** One or several requests in wire format. */
export interface Framing {
  readonly name: string;
  readonly bytes: string;
  /**
   * Result of the hub: the statuses of its responses, and each handled request with its body. `ends`: it closes the
   * connection without a response. `waits`: it expects more, and closes the connection if that does not arrive within
   * 12 s (limits.test.ts).
   */
  readonly ours: string;
  /** Result of llhttp, the parser of Node. */
  readonly llhttp: string;
}

const HOST = 'Host: h\r\n';
const get = (more = '', path = '/a') => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
const put = (headers: string, body = '', path = '/a') => `PUT ${path} HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
const chunked = (body: string, more = '') => put(`Transfer-Encoding: chunked\r\n${more}`, body);
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';

/** The bytes, the result of the hub, and that of llhttp if it differs. */
const TABLE: Readonly<Record<string, readonly [bytes: string, ours: string, llhttp?: string]>> = {
  'no body': [get(), '200: GET /a'],
  'a body': [put('Content-Length: 3\r\n', 'abc'), '200: PUT /a abc'],
  'an empty body': [put('Content-Length: 0\r\n'), '200: PUT /a'],
  'no length': [put(''), '200: PUT /a'],
  'HTTP/1.0': ['GET /a HTTP/1.0\r\n\r\n', '505', '200: GET /a'],
  'HTTP/1.0 with a body': ['PUT /a HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc', '505', '200: PUT /a abc'],
  'HTTP/1.1 without Host': ['GET /a HTTP/1.1\r\n\r\n', 'waits', '400'],
  'two Hosts': [get('Host: other\r\n'), '200: GET /a'],
  'an empty Host': ['GET /a HTTP/1.1\r\nHost:\r\n\r\n', '200: GET /a'],
  'HTTP/2.0': ['GET /a HTTP/2.0\r\nHost: h\r\n\r\n', '505', '200: GET /a'],
  'HTTP/1.2': ['GET /a HTTP/1.2\r\nHost: h\r\n\r\n', '505', '400'],
  'HTTP/0.9': ['GET /a\r\n\r\n', 'waits', '200: GET /a'],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '505', '400'],
  'a lower-case version': ['GET /a http/1.1\r\nHost: h\r\n\r\n', '505', '400'],
  'a lower-case method': ['get /a HTTP/1.1\r\nHost: h\r\n\r\n', '200: GET /a', '400'],
  'an unknown method': ['FROB /a HTTP/1.1\r\nHost: h\r\n\r\n', '200: FROB /a', '400'],
  'two blanks in the request line': ['GET  /a HTTP/1.1\r\nHost: h\r\n\r\n', '505', '200: GET /a'],
  'a tab in the request line': ['GET\t/a HTTP/1.1\r\nHost: h\r\n\r\n', '505', '400'],
  'a space after the version': ['GET /a HTTP/1.1 \r\nHost: h\r\n\r\n', '505', '400'],
  'a path with a blank': ['GET /a b HTTP/1.1\r\nHost: h\r\n\r\n', '505', '400'],
  'an address in full': ['GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n', '505', '200: GET http://h/a'],
  'an asterisk': ['OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n', '505', '200: OPTIONS *'],
  'a fragment': [get('', '/a#b'), '200: GET /a#b'],
  'a null in the path': [get('', '/a\0b'), '505', '400'],
  'empty lines before': [`\r\n\r\n${get()}`, 'waits', '200: GET /a'],
  'line feeds alone': ['GET /a HTTP/1.1\nHost: h\n\n', '505', '400'],
  'a bare line feed after a header': [`GET /a HTTP/1.1\r\nHost: h\nX: y\r\n\r\n`, 'waits', '400'],
  'a carriage return alone': ['GET /a HTTP/1.1\rHost: h\r\r', '505', '400'],
  'a carriage return in a value': [get('X: a\rb\r\n'), 'waits', '400'],
  'a null in a value': [get('X: a\0b\r\n'), 'waits', '400'],
  'a header without a colon': [get('X\r\n'), 'waits', '400'],
  'a header without a name': [get(': y\r\n'), '200: GET /a', '400'],
  'a blank before the colon': [get('X : y\r\n'), 'waits', '400'],
  'a blank in a name': [get('X y: z\r\n'), 'waits', '400'],
  'a folded header': [get('X: a\r\n b\r\n'), 'waits', '400'],
  'a header that begins with a blank': [`GET /a HTTP/1.1\r\n X: y\r\n${HOST}\r\n`, 'waits', '400'],
  'bytes beyond ASCII in a value': [get('X: \xe4\r\n'), '200: GET /a'],
  'two lengths that agree': [put('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'), 'ends', '400'],
  'two lengths': [put('Content-Length: 3\r\nContent-Length: 30\r\n', `abc${get('', '/smuggled')}`), 'ends', '400'],
  'two lengths in one header': [put('Content-Length: 3, 30\r\n', `abc${get('', '/smuggled')}`), '400'],
  'a negative length': [put('Content-Length: -3\r\n', 'abc'), '400'],
  'a length with a sign': [put('Content-Length: +3\r\n', 'abc'), '400'],
  'a length in hexadecimal': [put('Content-Length: 0x3\r\n', 'abc'), '400'],
  'a length with a fraction': [put('Content-Length: 3.0\r\n', 'abc'), '400'],
  'a length with blanks in it': [put('Content-Length: 1 2\r\n', 'abcabcabcabc'), '400'],
  'an empty length': [put('Content-Length:\r\n', get('', '/smuggled')), 'ends', '400'],
  'a length with zeros before': [put('Content-Length: 003\r\n', 'abc'), '200: PUT /a abc'],
  'a length beyond 64 bits': [put('Content-Length: 18446744073709551619\r\n', 'abc'), '400'],
  'a length in an underscored name': [
    put('Content_Length: 3\r\n', get('', '/smuggled')),
    '200 200: PUT /a ; GET /smuggled',
  ],
  'a body that is cut': [put('Content-Length: 30\r\n', 'abc'), 'waits'],
  chunks: [chunked('3\r\nabc\r\n0\r\n\r\n'), '200: PUT /a abc'],
  'chunks in capitals': [put('TRANSFER-ENCODING: CHUNKED\r\n', '3\r\nabc\r\n0\r\n\r\n'), '200: PUT /a abc'],
  'chunks of many sizes': [chunked('1\r\na\r\nA\r\nbbbbbbbbbb\r\n0\r\n\r\n'), '200: PUT /a abbbbbbbbbb'],
  'a chunk with an extension': [chunked('3;x=y\r\nabc\r\n0\r\n\r\n'), '400', '200: PUT /a abc'],
  'a chunk with zeros before': [chunked('0003\r\nabc\r\n0\r\n\r\n'), '200: PUT /a abc'],
  'a chunk with a sign': [chunked('+3\r\nabc\r\n0\r\n\r\n'), '400'],
  'a chunk with 0x': [chunked('0x3\r\nabc\r\n0\r\n\r\n'), '400'],
  'a chunk with a blank': [chunked(' 3\r\nabc\r\n0\r\n\r\n'), '200: PUT /a', '400'],
  'a chunk without a size': [chunked('\r\nabc\r\n0\r\n\r\n'), '200: PUT /a', '400'],
  'a chunk longer than its size': [chunked(`2\r\nabc\r\n0\r\n\r\n${get('', '/smuggled')}`), '505', '400'],
  'a chunk that ends in a line feed': [chunked('3\nabc\n0\n\n'), '200: PUT /a abc', '400'],
  'a chunk beyond 64 bits': [chunked('10000000000000003\r\nabc\r\n0\r\n\r\n'), '400'],
  trailers: [chunked('3\r\nabc\r\n0\r\nX: y\r\n\r\n'), '505', '200: PUT /a abc'],
  'a trailer that is a length': [chunked(`3\r\nabc\r\n0\r\nContent-Length: 30\r\n\r\n${get('', '/b')}`), '505', '400'],
  'chunks and a length': [chunked(`0\r\n\r\n${get('', '/smuggled')}`, 'Content-Length: 5\r\n'), '400'],
  'chunks twice': [
    put('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'),
    '200: PUT /a abc',
    '400',
  ],
  'chunks that are no chunks': [put('Transfer-Encoding: identity\r\n', get('', '/smuggled')), 'ends', '400'],
  'chunks of gzip': [put('Transfer-Encoding: gzip, chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'), 'ends', '200: PUT /a abc'],
  'chunks with a blank before the colon': [
    put('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${get('', '/smuggled')}`),
    'waits',
    '400',
  ],
  'chunks with a tab': [put('Transfer-Encoding:\tchunked\r\n', '3\r\nabc\r\n0\r\n\r\n'), '200: PUT /a abc'],
  'chunks by HTTP/1.0': [
    'PUT /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    '505',
    '200: PUT /a abc',
  ],
  'a body of GET': [`GET /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`, '200: GET /a abc'],
  'a body of HEAD': [`HEAD /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`, '200: HEAD /a abc'],
  'a body of GET in chunks': [
    `GET /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    '200: GET /a abc',
  ],
  'a body of DELETE': [`DELETE /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`, '200: DELETE /a abc'],
  'two requests': [get() + get('', '/b'), '200 200: GET /a ; GET /b'],
  'two requests with bodies': [
    put('Content-Length: 3\r\n', 'abc') + put('Content-Length: 3\r\n', 'def', '/b'),
    '200 200: PUT /a abc ; PUT /b def',
  ],
  'a request after chunks': [chunked('3\r\nabc\r\n0\r\n\r\n') + get('', '/b'), 'ends', '200 200: PUT /a abc ; GET /b'],
  'a request after the last chunk': [
    get('Connection: close\r\n') + get('', '/b'),
    '200 200: GET /a ; GET /b',
    '400: GET /a',
  ],
  'garbage after a request': [`${get()}\x16\x03\x01rubbish\r\n\r\n`, '505: GET /a', '400: GET /a'],
  'an upgrade elsewhere': [get(`${UPGRADE}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`), '200: GET /a', 'ends'],
  'an upgrade to HTTP/2': [
    get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'),
    '200: GET /a',
    'ends',
  ],
  'a body that is to be waited for': [
    put('Content-Length: 3\r\nExpect: 100-continue\r\n', 'abc'),
    '100 200: PUT /a abc',
  ],
  'a connection to an address': ['CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n', '505', 'ends'],
  'a TLS handshake': ['\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', '505', '400'],
};

export const FRAMINGS: readonly Framing[] = Object.entries(TABLE).map(([name, [bytes, ours, llhttp = ours]]) => {
  return { name, bytes, ours, llhttp };
});
