/**
 * A nearly right request of the S3 API: the sample of a route with a few things wrong, signed afterwards, so that most of it passes the signature.
 *
 * Owns: what is changed. Knows nothing of: servers. Rule: all of it comes from the route table and the seed.
 */
import { createHash } from 'node:crypto'
import type { S3Route } from '../../../src/api/s3/base/s3-route.ts'
import { S3_ROUTES, sampleOf } from '../../api/s3/s3-samples.ts'
import {
  payloadHash,
  presignedPath,
  signedChunks,
  signedHeaders,
  type SigningSecret,
} from '../../api/s3/s3-signer.ts'
import type { Random } from '../simulator/random.ts'
import { AUTHORIZATIONS, HEADER_TEXTS, TEXTS } from './hostile-values.ts'

export interface S3FuzzedRequest {
  readonly action: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

/** What a fuzzed request is signed with and for. */
export interface S3Signer {
  readonly secret: SigningSecret
  readonly host: string
  readonly at: Date
}

interface Draft {
  method: string
  path: string
  readonly query: [name: string, value: string][]
  readonly headers: Record<string, string>
  body: Buffer | null
  sign: 'header' | 'query' | 'chunks' | 'wrong' | 'not'
}

const CHANGES_MAX = 3
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']
const BUCKETS = ['photos', 'kept']
const KEYS = ['2026/cat.txt', '2026/cat.txt', 'a', 'a//b', '..', 'ä', '+', ' ']
/** Of S3, taken by some route or by none. */
const PARAMETERS = [
  'versionId partNumber uploadId uploads acl tagging retention legal-hold versions list-type max-keys',
  'marker encoding-type delete attributes select restore x-id X-Amz-Expires x-amz-acl X-Amz-Signature',
  'response-content-type prefix delimiter __proto__',
]
  .join(' ')
  .split(' ')
const HEADERS = [
  'range if-match if-none-match if-modified-since content-md5 content-type content-encoding x-amz-acl',
  'x-amz-storage-class x-amz-tagging x-amz-meta-a x-amz-copy-source x-amz-checksum-crc32',
  'x-amz-object-lock-mode x-amz-object-lock-retain-until-date x-amz-decoded-content-length x-amz-trailer',
  'x-amz-server-side-encryption x-amz-copy-source-range x-amz-mfa x-amz-expected-bucket-owner expires',
  'x-amz-checksum-type x-amz-sdk-checksum-algorithm x-service-idempotency-key cache-control origin',
]
  .join(' ')
  .split(' ')
const VALUES = [
  'STANDARD AES256 aws:kms private public-read COPY REPLACE /photos/2026/cat.txt bytes=0-1 CRC32',
  'CRC64NVME COMPOSITE FULL_OBJECT true url https://app.example.org 0 -1 10001',
]
  .join(' ')
  .split(' ')
const XML_TEXTS = [
  '',
  '<',
  '&',
  '&#0;',
  '&#x1F600;',
  ']]>',
  '<![CDATA[x]]>',
  '<!-- -->',
  '<a>',
  '</Delete>',
  '<?x?>',
  '\uFFFF',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '0',
  '-1',
  '1e9',
  'Enabled',
  'Suspended',
  'GOVERNANCE',
  '2020-01-01T00:00:00Z',
]

export function s3FuzzedRequest(random: Random, signer: S3Signer): S3FuzzedRequest {
  const route = random.pick(S3_ROUTES)
  const draft = draftOf(route, { bucket: random.pick(BUCKETS), key: random.pick(KEYS) })
  for (let n = random.below(CHANGES_MAX + 1); n > 0; n--) random.pick(CHANGES)(draft, { random, route })
  return { action: route.action, ...signedDraft(draft, signer, random) }
}

/** The sample of each bucket as it is. */
export function s3ExampleRequests(
  route: S3Route,
  signer: S3Signer,
  random: Random,
): readonly S3FuzzedRequest[] {
  return BUCKETS.map((bucket) => {
    const draft = draftOf(route, { bucket, key: KEYS[0] ?? '' })
    return { action: route.action, ...signedDraft(draft, signer, random) }
  })
}

function draftOf(route: S3Route, place?: { readonly bucket: string; readonly key: string }): Draft {
  const { method, path: target, headers, body } = sampleOf(route, place)
  const [path = '', search = ''] = target.split('?')
  const query = [...new URLSearchParams(search)]
  return {
    method,
    path,
    query,
    headers: { ...headers },
    body: body === undefined ? null : Buffer.from(body),
    sign: 'header',
  }
}

interface Chosen {
  readonly random: Random
  readonly route: S3Route
}
type Change = (draft: Draft, chosen: Chosen) => void

const CHANGES: readonly Change[] = [
  changeQuery,
  changeQuery,
  changeHeader,
  changeHeader,
  changeHeader,
  changeXml,
  changeXml,
  changeXml,
  changeBody,
  changePlace,
  changeMethod,
  changeSignature,
]

function changeQuery({ query }: Draft, { random, route }: Chosen): void {
  const known = random.chance(0.7) && route.parameters.length > 0 ? route.parameters : PARAMETERS
  const name = random.chance(0.05) ? random.pick(TEXTS) : random.pick(known)
  const at = query.findIndex(([given]) => given === name)
  const entry: [string, string] = [name, random.pick(random.chance(0.5) ? TEXTS : VALUES)]
  if (at === -1 || random.chance(0.1)) query.push(entry)
  else if (random.chance(0.3)) query.splice(at, 1)
  else query[at] = entry
}

function changeHeader({ headers }: Draft, { random, route }: Chosen): void {
  const known = random.chance(0.5) && route.headers.length > 0 ? route.headers : HEADERS
  const picked = random.pick(known)
  const name = picked.endsWith('-')
    ? `${picked}${random.pick(['a', 'A-b', 'x'.repeat(200), '__proto__'])}`
    : picked
  if (random.chance(0.2)) delete headers[name]
  else headers[name.toLowerCase()] = random.chance(0.4) ? random.pick(VALUES) : fitting(name, random)
}

function fitting(name: string, random: Random): string {
  const found = HEADER_TEXTS.filter(([about]) => about.test(name)).map(([, texts]) => texts)
  return random.pick((random.chance(0.7) ? found[0] : found.at(-1)) ?? [''])
}

/** Of an element's text, an element, or a piece of the document; a digest of what it was is taken along. */
function changeXml(draft: Draft, { random, route }: Chosen): void {
  if (route.body.kind !== 'xml' || draft.body === null) return
  const text = draft.body.toString()
  const at = random.below(text.length + 1)
  const elements = [...text.matchAll(/<(\w+)>[^<]*<\/\1>/g)]
  const [found, name] = elements.length === 0 ? ['', ''] : random.pick(elements)
  const changed = random.pick([
    () => text.replace(/>[^<]*</, `>${random.pick(XML_TEXTS)}<`),
    () => text.replace(found, `<${name}>${random.pick(random.chance(0.5) ? XML_TEXTS : TEXTS)}</${name}>`),
    () => text.replace(found, ''),
    () => text.replace(found, found.repeat(random.pick([2, 5, 2000]))),
    () => text.slice(0, at) + random.pick(XML_TEXTS) + text.slice(at),
    () => text.slice(0, at),
    () => `${random.pick(XML_TEXTS)}${text}`,
  ])()
  draft.body = Buffer.from(changed)
  if (random.chance(0.9)) draft.headers['content-md5'] = createHash('md5').update(draft.body).digest('base64')
}

function changeBody(draft: Draft, { random }: Chosen): void {
  draft.body = Buffer.alloc(random.pick([0, 1, 100, 70_000, 300_000]), random.below(256))
}

function changePlace(draft: Draft, { random }: Chosen): void {
  const [bucket, key] = [random.pick([...TEXTS, 'photos', 'kept', 'nowhere']), random.pick(TEXTS)]
  draft.path = `/${encoded(bucket)}${random.chance(0.3) ? '' : `/${encoded(key)}`}`
}

function changeMethod(draft: Draft, { random }: Chosen): void {
  draft.method = random.pick(METHODS)
}

function changeSignature(draft: Draft, { random }: Chosen): void {
  draft.sign = random.pick(['query', 'query', 'chunks', 'chunks', 'wrong', 'not'] as const)
}

type Signed = Omit<S3FuzzedRequest, 'action'>

function signedDraft(draft: Draft, { secret, host, at }: S3Signer, random: Random): Signed {
  const { method, query, sign, body } = draft
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  const path = `${draft.path}${search === '' ? '' : `?${search}`}`
  const own = { method, path, body }
  const { host: _, ...headers } = draft.headers
  const asked = { method, path, host, headers, at }
  if (sign === 'query') {
    const expires = random.pick([60, 60, 60, 0, -1, 604_800, 604_801])
    const target = presignedPath(secret, { ...asked, payload: 'UNSIGNED-PAYLOAD' }, expires)
    return { ...own, path: target, headers: { ...headers, host } }
  }
  if (sign === 'not') {
    const authorization = random.pick(AUTHORIZATIONS) ?? ''
    return { ...own, headers: { ...headers, host, ...(authorization === '' ? {} : { authorization }) } }
  }
  if (sign === 'chunks') return inChunks(draft, { secret, host, at }, { random, path })
  const used = sign === 'wrong' ? { ...secret, secretKey: `${secret.secretKey}x` } : secret
  return { ...own, headers: signedHeaders(used, { ...asked, payload: payloadHash(body ?? Buffer.alloc(0)) }) }
}

/** Sent in signed chunks, some of them with a byte changed, cut, or of a wrong length. */
function inChunks(
  { method, headers: given, body }: Draft,
  { secret, host, at }: S3Signer,
  { random, path }: { readonly random: Random; readonly path: string },
): Signed {
  const bytes = body ?? Buffer.alloc(0)
  const isTrailed = random.chance(0.4)
  const { host: _, ...others } = given
  const length = random.chance(0.8) ? bytes.length : random.below(400_000)
  const headers = {
    ...others,
    'x-amz-decoded-content-length': `${length}`,
    ...(isTrailed ? { 'x-amz-trailer': 'x-amz-checksum-crc32' } : {}),
  }
  const payload = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${isTrailed ? '-TRAILER' : ''}`
  const signed = signedHeaders(secret, { method, path, host, headers, at, payload })
  const first = /Signature=([0-9a-f]+)/.exec(signed['authorization'] ?? '')?.[1] ?? ''
  const cut = random.below(bytes.length + 1)
  const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)].filter((chunk) => chunk.length > 0)
  const trailers = isTrailed
    ? { trailers: { 'x-amz-checksum-crc32': random.pick(['AAAAAA==', '!', '']) } }
    : {}
  const sent = signedChunks(secret, chunks, { at, first, ...trailers })
  return { method, path, headers: signed, body: broken(sent, random) }
}

function broken(sent: Buffer, random: Random): Buffer {
  if (random.chance(0.4)) return sent
  const at = random.below(sent.length)
  if (random.chance(0.5)) return sent.subarray(0, at)
  sent[at] = random.below(256)
  return sent
}

/** Text that is no Unicode, such as half of a surrogate pair, is sent as its bytes. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ED%A0%80'
  }
}
