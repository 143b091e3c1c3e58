/**
 * One object of another store: what it says of the object, and its bytes. [AWS S3 API reference: GetObject, HeadObject]
 *
 * Owns: resumption after a broken connection. Rules: all bytes are of the version that the first answer named, by its etag; a store that answers a
 * range with something else is refused, not trusted.
 */
import type { Readable } from 'node:stream'
import { CommandError } from '../base/exit.ts'
import type { Representation } from '../objects/upload.ts'
import type { BytesRate } from './bytes-rate.ts'
import { drop, type SourceAnswer, type SourceClient } from './source-client.ts'
import { type Claims, claimsOf } from './source-checksums.ts'
import { unquoted } from '../../s3-client/object-listing.ts'

export interface SourceName {
  readonly bucket: string
  readonly key: string
}

export interface SourceObject extends SourceName {
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  readonly contentType: string
  readonly representation: Representation
  readonly metadata: Readonly<Record<string, string>>
  readonly tagCount: number
  readonly claims: Claims
  /** What the source says of the object and the import leaves behind. */
  readonly leftBehind: readonly string[]
}

export interface SourceAccess {
  readonly client: SourceClient
  readonly rate: BytesRate
  readonly signal: AbortSignal
  readonly isEtagMd5: boolean
}

/** In a row, without a further byte. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MS = 200
const DEFAULT_CONTENT_TYPE = 'application/octet-stream'
const METADATA_PREFIX = 'x-amz-meta-'
const WITH_CHECKSUMS = { 'x-amz-checksum-mode': 'ENABLED' }
const NO_CARRIAGE: readonly (readonly [header: string, what: string])[] = [
  ['x-amz-object-lock-mode', 'retention'],
  ['x-amz-object-lock-legal-hold', 'legal hold'],
  ['x-amz-website-redirect-location', 'website redirect'],
  ['x-amz-missing-meta', 'metadata that headers cannot carry'],
]

/** What HEAD says. */
export async function headSource(access: SourceAccess, name: SourceName): Promise<SourceObject> {
  const answer = await access.client.ask({
    action: 'HeadObject',
    method: 'HEAD',
    ...name,
    headers: WITH_CHECKSUMS,
  })
  // It is empty, and its connection stays of use.
  answer.body.on('error', () => {}).resume()
  return described(name, answer, access.isEtagMd5)
}

/** What GET says, with its body, which must be read by `bytesOf` or destroyed. */
export async function getSource(
  access: SourceAccess,
  name: SourceName,
): Promise<{ readonly object: SourceObject; readonly body: Readable }> {
  const answer = await access.client.ask({ action: 'GetObject', ...name, headers: WITH_CHECKSUMS })
  return { object: described(name, answer, access.isEtagMd5), body: answer.body }
}

function described(name: SourceName, { headers }: SourceAnswer, isEtagMd5: boolean): SourceObject {
  const size = Number(headers['content-length'] ?? '')
  if (headers['content-length'] === undefined || !Number.isSafeInteger(size))
    throw odd(name, 'has no Content-Length')
  return {
    ...name,
    size,
    etag: unquoted(headers['etag'] ?? ''),
    modifiedAt: Date.parse(headers['last-modified'] ?? ''),
    contentType: headers['content-type'] || DEFAULT_CONTENT_TYPE,
    representation: representationOf(headers),
    metadata: Object.fromEntries(
      Object.entries(headers).flatMap(([header, value]) =>
        header.startsWith(METADATA_PREFIX) ? [[header.slice(METADATA_PREFIX.length), value] as const] : [],
      ),
    ),
    tagCount: Number(headers['x-amz-tagging-count'] ?? 0) || 0,
    claims: claimsOf(headers, isEtagMd5),
    leftBehind: NO_CARRIAGE.flatMap(([header, what]) =>
      headers[header] === undefined || headers[header] === 'OFF' ? [] : [what],
    ),
  }
}

function representationOf(headers: SourceAnswer['headers']): Representation {
  const members = ['cacheControl', 'contentDisposition', 'contentLanguage', 'expires'] as const
  const given = members.flatMap((member) => {
    const value = headers[member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)]
    return value === undefined || value === '' ? [] : [[member, value] as const]
  })
  // Old clients left in it how they had framed the upload.
  const coding = (headers['content-encoding'] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'aws-chunked' && one !== 'identity')
  return {
    ...Object.fromEntries(given),
    ...(coding.length === 0 ? {} : { contentEncoding: coding.join(', ') }),
  }
}

export interface Span {
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

/** The bytes of the span. `body`: an answer that has just started at its start; null: ask for one. */
export async function* bytesOf(
  access: SourceAccess,
  object: SourceObject,
  { start, end }: Span,
  body: Readable | null,
): AsyncGenerator<Buffer> {
  let at = start
  let answer = body
  for (let attempts = 0, reached = -1; at < end; ) {
    attempts = at > reached ? 1 : attempts + 1
    reached = at
    if (attempts > 1) await access.client.wait(FIRST_WAIT_MS * 2 ** (attempts - 2))
    answer ??= await asked(access, object, { start: at, end })
    try {
      for await (const piece of answer) {
        const bytes = piece as Buffer
        at += bytes.length
        if (at > end) throw odd(object, 'sent more than it was asked for')
        yield bytes
        await access.rate.passed(bytes.length, access.signal)
      }
    } catch (cause) {
      if (cause instanceof CommandError || access.signal.aborted || attempts === ATTEMPTS_MAX) throw cause
    } finally {
      drop(answer)
    }
    answer = null
    if (attempts === ATTEMPTS_MAX && at === reached && at < end)
      throw odd(object, `broke off at byte ${at} of ${object.size}, ${ATTEMPTS_MAX} times in a row`)
  }
  if (answer !== null) drop(answer)
}

async function asked(
  { client }: SourceAccess,
  object: SourceObject,
  { start, end }: Span,
): Promise<Readable> {
  const { bucket, key, etag } = object
  const headers = { range: `bytes=${start}-${end - 1}`, ...(etag === '' ? {} : { 'if-match': `"${etag}"` }) }
  const answer = await client.ask({ action: 'GetObject', bucket, key, headers })
  const isWhole = start === 0 && end === object.size
  const isAsked =
    answer.status === 206 ? answer.headers['content-range']?.startsWith(`bytes ${start}-`) !== false : isWhole
  if (isAsked && unquoted(answer.headers['etag'] ?? '') === etag) return answer.body
  drop(answer.body)
  throw isAsked
    ? odd(object, 'changed while it was copied', 'source_changed')
    : odd(object, `answers a range with ${answer.status} and other bytes`)
}

function odd({ bucket, key }: SourceName, what: string, code = 'source_broken_off'): CommandError {
  return new CommandError(`'${bucket}/${key}' at the source ${what}`, {
    code,
    hint: 'The same command copies it again.',
  })
}
