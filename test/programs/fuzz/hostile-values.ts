/**
 * Values that servers have stumbled over, for every place of a request that takes one.
 */
const LONG = 'x'.repeat(3000)

/** For parts of a path and of a query; they are encoded when they are sent. */
export const TEXTS: readonly string[] = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  '..%2f..%2fetc',
  '%00',
  '\0',
  'a\r\nX-Injected: 1',
  '\u007f',
  '\uD800',
  '\uFFFF',
  '\u202E',
  'é'.normalize('NFD'),
  '\u{1F600}'.repeat(200),
  LONG,
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '1',
  '1e3',
  '0x10',
  '9007199254740993',
  '99999999999999999999999',
  '2147483648',
  '${7*7}',
  "'; DROP TABLE x; --",
  '<script>alert(1)</script>',
  '{"a":1}',
  '*',
  'mpu_00000000000000000000000000',
  'AKAAAAAAAAAAAAAAAAAA',
  '2099-01-31T12:00:00Z',
  '2026-02-30T25:61:61Z',
  '275760-09-13T00:00:00.001Z',
  '-271821-04-20T00:00:00Z',
  'Enabled',
  'Suspended',
  'Unversioned',
  'COPY',
  'REPLACE',
  'read,write',
  'op=read:bucket=*:prefix=a,b',
  '2026/cat.txt',
  'photos',
  'acme',
]

const DATES = [
  'Sat, 21 Nov 2026 12:00:00 GMT',
  'Sat, 21 Nov 2099 12:00:00 GMT',
  'yesterday',
  '2099-01-31T12:00:00Z',
  '1970-01-01T00:00:00Z',
  '2099-02-30T00:00:00Z',
]
const RANGES = [
  'bytes=0-0',
  'bytes=-0',
  'bytes=-1',
  'bytes=5-1',
  'bytes=5-',
  'bytes=0-99999999999999999999',
  'bytes=0-0,1-1,2-2',
  'bytes=',
  'lines=1-2',
]
const TAGS = ['*', '""', 'W/"x"', '"a", "b", ,', 'x', '"0123456789abcdef0123456789abcdef-1"']
const DIGESTS = ['AAAA', 'AAAAAA==', 'AAAAAAAAAAA=', 'not base64!', 'CRC32', 'crc32c', 'MD5']
const WORDS = [
  'GOVERNANCE',
  'COMPLIANCE',
  'governance',
  'ON',
  'OFF',
  'on',
  'a=1&b=2',
  'a=%zz',
  'a=1&a=2',
  'a',
]
const OTHERS = [
  '',
  ' ',
  '\u00e4\u00ff',
  'x'.repeat(2000),
  'text/plain; charset="',
  'application/x-msgpack',
  'application/json; charset=utf-16',
  'gzip',
]

/** Header values that a client library accepts: mostly of the header's own kind, by its name. */
export const HEADER_TEXTS: readonly (readonly [name: RegExp, texts: readonly string[]])[] = [
  [/since|until/i, DATES],
  [/range/i, [...RANGES, ...DATES, ...TAGS]],
  [/match/i, TAGS],
  [/checksum/i, DIGESTS],
  [/mode|hold|tagging/i, WORDS],
  [/./, [...OTHERS, ...WORDS, ...DIGESTS, ...TAGS, ...RANGES, ...DATES]],
]

export const JSON_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  1e308,
  -0,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  '',
  [],
  {},
  [[]],
  [null],
  { a: 1 },
]

/** Bodies that are no JSON object, or strange ones. */
export const JSON_TEXTS: readonly string[] = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '1',
  '{"a":1,"a":2}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{}}}',
  '\uFEFF{}',
  '{"name":"x",}',
  "{'name':'x'}",
  '{"maxBytesPerSecond":1e999}',
  '{"maxBytesPerSecond":-1e-999}',
  `{"reason":"${'\\u0000'.repeat(10)}"}`,
  '['.repeat(2000) + ']'.repeat(2000),
  '{"a":'.repeat(2000) + '1' + '}'.repeat(2000),
  '\u0000\u0001\u0002',
]

export const AUTHORIZATIONS: readonly (string | null)[] = [
  null,
  '',
  'Bearer',
  'Bearer x',
  'Bearer svctk_.x',
  `Bearer svctk_${'a'.repeat(3000)}.${'b'.repeat(43)}`,
  'Bearer svcadm_0000000000000000000000000000000000000000000',
  'Basic Og==',
  'Basic !!!',
  'Digest username="x"',
]
