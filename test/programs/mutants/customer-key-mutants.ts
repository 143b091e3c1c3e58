/**
 * Bugs of objects that are sealed with a key of their client: whose key opens what, what is shared, what is counted.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const KEYS = 'src/content/customer-keys.ts'
const CONTENT = 'src/content/object-content.ts'
const EXCHANGE = 'src/state-machine/key-exchange/key-exchange.ts'
const COPY = 'src/state-machine/objects/copy-object.ts'
const HEADERS = 'src/api/customer-key-headers.ts'
const APIS = 'api/customer-keys'
const ENTRIES = 'state-machine/customer-seals'

const rows: readonly TestedRow[] = [
  [
    'CK1',
    'any key opens what another one sealed',
    KEYS,
    'timingSafeEqual(kept, proof)',
    'kept.length > 0',
    APIS,
  ],
  [
    'CK2',
    'two objects under one key share their chunks',
    KEYS,
    '? randomBytes(SALT_BYTES)',
    '? Buffer.alloc(SALT_BYTES)',
    APIS,
  ],
  [
    'CK3',
    'a repeated upload is another one',
    KEYS,
    'again === undefined\n',
    'again !== undefined || again === undefined\n',
    APIS,
  ],
  [
    'CK4',
    'a small object lies in a row, where an exchange seals it with a key of the tenant',
    CONTENT,
    'request.customer === undefined ? config.limits.inlineBytesMax : 0',
    'config.limits.inlineBytesMax',
    APIS,
  ],
  [
    'CK5',
    'the etag is the MD5 of the plain bytes',
    CONTENT,
    "request.customer === undefined ? request.etag : 'content'",
    'request.etag',
    APIS,
  ],
  [
    'CK6',
    'an exchange waits for chunks that it cannot seal',
    EXCHANGE,
    'chunkCount - customerChunks -',
    'chunkCount -',
    ENTRIES,
  ],
  [
    'CK7',
    'a copy names chunks under a key that does not open them',
    COPY,
    'return isSameKey ? null',
    'return true ? null',
    ENTRIES,
  ],
  [
    'CK8',
    'a copy has other bytes than its source',
    COPY,
    'stored.size === found.size',
    'stored.size >= found.size',
    ENTRIES,
  ],
  [
    'CK9',
    'a key is taken where others read along',
    HEADERS,
    'if (!isSecure && !isSheltered)',
    'if (!isSecure && isSheltered)',
    APIS,
  ],
]

export const CUSTOMER_KEY_MUTANTS: readonly Mutant[] = killedByTests(rows)
