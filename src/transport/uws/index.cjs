// hyper-express requires `uWebSockets.js`, which lives on GitHub only. The npm package uws-pack carries the same
// binaries, but exports only an ES module entry, so the binary is loaded from its folder.
const { findPackageJSON } = require('node:module');
const { dirname, join } = require('node:path');

const manifest = findPackageJSON('uws-pack', __filename);
if (manifest === undefined) throw new Error('Cannot load the HTTP server: the package uws-pack is not installed');

// The binary reads this once, when it is loaded. Its own limit of 4 KiB rejects bearer tokens with many roles. This is
// the highest value; the setting client_max_header_size is checked in addition.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(64 * 1024);

const { platform, arch, versions } = process;
module.exports = require(join(dirname(manifest), 'dist', 'bin', `uws_${platform}_${arch}_${versions.modules}.node`));
