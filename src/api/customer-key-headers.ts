/**
 * Headers that bring the key of a client. [AWS S3 API reference: SSE-C] [docs/adr/0092-keys-of-clients.md]
 *
 * Owns: their form, and where they are taken. Rules: the key leaves this file as an object that no log prints; it is taken only where no other machine reads it
 * on the way, which is TLS, this machine, or a trusted proxy that ended TLS. No message shows any of the values.
 */
import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Connection } from '../access/base/principal.ts'
import { Refusal } from '../base/refusal.ts'
import { CUSTOMER_KEY_BYTES } from '../content/customer-keys.ts'
import { headerText } from './header-text.ts'
import type { HeaderNote } from './route.ts'

const ALGORITHM = 'AES256'
const BASE64_KEY = /^[A-Za-z0-9+/]{43}=$/
const BASE64_MD5 = /^[A-Za-z0-9+/]{22}==$/

/** Lower-case names. */
export interface CustomerKeyNames {
  readonly algorithm: string
  readonly key: string
  readonly md5: string
}

export interface CustomerKey {
  readonly key: KeyObject
  /** base64, as it was sent; answers give it back. */
  readonly md5: string
}

export function customerKeyNames(prefix: string): CustomerKeyNames {
  return { algorithm: `${prefix}-algorithm`, key: `${prefix}-key`, md5: `${prefix}-key-md5` }
}

/** Of the native API: of the object itself, and of the source of a copy. */
export const OWN_KEY: CustomerKeyNames = customerKeyNames('x-service-customer')
export const OWN_SOURCE_KEY: CustomerKeyNames = customerKeyNames('x-service-copy-source-customer')

export const CUSTOMER_KEY_HEADERS: readonly HeaderNote[] = notesOf('X-Service-Customer', 'the object')
export const SOURCE_KEY_HEADERS: readonly HeaderNote[] = notesOf(
  'X-Service-Copy-Source-Customer',
  'the source of the copy',
)

function notesOf(prefix: string, what: string): readonly HeaderNote[] {
  return [
    {
      name: `${prefix}-Algorithm`,
      description: `AES256: ${what} is sealed with the key of the next header`,
      schema: { enum: [ALGORITHM] },
    },
    { name: `${prefix}-Key`, description: 'base64 of the 32 bytes; over TLS only, and never kept' },
    { name: `${prefix}-Key-MD5`, description: 'base64 of the MD5 of these bytes' },
  ]
}

/** Undefined: the request brings none. Throws Refusal invalid_request, invalid_argument. */
export function readCustomerKey(
  headers: IncomingHttpHeaders,
  names: CustomerKeyNames,
  { isSecure, isSheltered = false }: Pick<Connection, 'isSecure' | 'isSheltered'>,
): CustomerKey | undefined {
  const text = (name: string): string | undefined => headerText(headers, name)
  const [algorithm, encoded, md5] = [text(names.algorithm), text(names.key), text(names.md5)]
  if (algorithm === undefined && encoded === undefined && md5 === undefined) return undefined
  if (!isSecure && !isSheltered)
    throw new Refusal(
      'invalid_request',
      'A key of a client is taken over TLS only: this request came in plain HTTP, and others may have read the key',
    )
  if (algorithm === undefined || encoded === undefined || md5 === undefined)
    throw new Refusal(
      'invalid_request',
      `A key of a client takes three headers: ${names.algorithm}, ${names.key} and ${names.md5}`,
    )
  if (algorithm !== ALGORITHM)
    throw new Refusal('invalid_argument', `${names.algorithm} is not ${ALGORITHM}, the only one there is`)
  const bytes = BASE64_KEY.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.alloc(0)
  if (bytes.length !== CUSTOMER_KEY_BYTES)
    throw new Refusal('invalid_argument', `${names.key} is not base64 of ${CUSTOMER_KEY_BYTES} bytes`)
  if (!BASE64_MD5.test(md5) || createHash('md5').update(bytes).digest('base64') !== md5)
    throw new Refusal('invalid_argument', `${names.md5} is not base64 of the MD5 of the key`)
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return { key, md5 }
}

/** What an answer says of the key that it was asked with. */
export function customerKeyAnswer(
  names: CustomerKeyNames,
  customer: CustomerKey | undefined,
): Record<string, string> {
  return customer === undefined ? {} : { [names.algorithm]: ALGORITHM, [names.md5]: customer.md5 }
}
