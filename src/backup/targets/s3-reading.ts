/**
 * The bytes of one object of a target, continued where a connection broke.
 *
 * Owns: which bytes are asked for next, and what is compared. Rules: all pieces are of one object, by its entity tag; the range and the size that the store
 * says are those that were asked for; a whole object is compared with the checksum that the store returns, if it returns one of all bytes.
 */
import { createHash } from 'node:crypto'
import type { S3Answer, S3Requests } from './s3-requests.ts'
import { TargetCorrupt, TargetError, TargetUnreachable } from './target.ts'

export interface S3Range {
  readonly offset: number
  readonly length: number
  /** Bytes of the whole object. */
  readonly size: number
}

export interface S3Reading {
  readonly name: string
  readonly key: string
  /** Absent: the whole object. */
  readonly part: S3Range | undefined
}

/** Attempts in a row that brought no byte. */
const EMPTY_ATTEMPTS_MAX = 6

/** Throws TargetError. */
export async function* readWhole(
  requests: S3Requests,
  { name, key, part }: S3Reading,
): AsyncGenerator<Uint8Array> {
  if (part?.length === 0) return
  const hash = createHash('sha256')
  let wanted: Wanted = {
    offset: part?.offset ?? 0,
    length: part?.length ?? null,
    size: part?.size ?? null,
    etag: null,
  }
  let claimed: string | undefined
  for (let empty = 1; ; empty++) {
    const answer = await ask(requests, { name, key, wanted })
    claimed ??= claimOf(answer.headers)
    wanted = compared(requests, { name, wanted, answer })
    try {
      for await (const piece of answer.body as AsyncIterable<Buffer>) {
        wanted = after(wanted, piece.length)
        if (left(wanted) < 0) throw odd(requests, `it sends more of ${name} than it says`)
        hash.update(piece)
        empty = 0
        yield piece
      }
      if (left(wanted) === 0) break
    } catch (cause) {
      if (cause instanceof TargetError) throw cause
      if (empty === EMPTY_ATTEMPTS_MAX)
        throw new TargetUnreachable(
          `Cannot read ${name} at ${requests.description}: its connections break off`,
          {
            cause,
          },
        )
    } finally {
      answer.body.on('error', () => {}).destroy()
    }
    if (empty === EMPTY_ATTEMPTS_MAX) throw odd(requests, `it ends ${name} before its end`)
    await requests.pause(empty + 1)
  }
  const found = hash.digest('base64')
  if (part === undefined && claimed !== undefined && claimed !== found)
    throw odd(requests, `the bytes of ${name} have the SHA-256 ${found}, and it keeps ${claimed}`)
}

interface Wanted {
  /** Of the next byte. */
  readonly offset: number
  /** Of what is still to come; null: to the end, which no answer has named yet. */
  readonly length: number | null
  /** Of the whole object; null: no answer has named it yet. */
  readonly size: number | null
  readonly etag: string | null
}

const left = ({ length }: Wanted): number => length ?? 0

const after = (wanted: Wanted, bytes: number): Wanted => ({
  ...wanted,
  offset: wanted.offset + bytes,
  length: wanted.length === null ? null : wanted.length - bytes,
})

interface Asked extends Pick<S3Reading, 'name' | 'key'> {
  readonly wanted: Wanted
}

function ask(requests: S3Requests, { name, key, wanted }: Asked): Promise<S3Answer> {
  const { offset, length, etag } = wanted
  const headers = {
    'x-amz-checksum-mode': 'ENABLED',
    ...(length === null ? {} : { range: `bytes=${offset}-${offset + length - 1}` }),
    ...(etag === null ? {} : { 'if-match': etag }),
  }
  return requests.ask({ method: 'GET', action: `GetObject ${name}`, key, headers })
}

interface Compared extends Pick<S3Reading, 'name'> {
  readonly wanted: Wanted
  readonly answer: S3Answer
}

/** What is to come by the answer, whose sizes fit to what was asked for. Throws TargetCorrupt. */
function compared(requests: S3Requests, { name, wanted, answer }: Compared): Wanted {
  const { headers, status } = answer
  const etag = headers['etag'] ?? null
  const length = Number(headers['content-length'])
  try {
    if (!Number.isSafeInteger(length) || length < 0)
      throw odd(requests, `it does not say the size of ${name}`)
    if (wanted.etag !== null && etag !== wanted.etag) throw odd(requests, `${name} changed while it was read`)
    if (wanted.length === null) return { offset: 0, length, size: length, etag }
    const { offset, size } = wanted
    const range = `bytes ${offset}-${offset + wanted.length - 1}/${size}`
    if (status !== 206 || headers['content-range'] !== range || length !== wanted.length)
      throw odd(
        requests,
        `asked for ${range} of ${name} it answers ${status} with ${(headers['content-range'] ?? 'no range').slice(0, 80)} and ${length} bytes`,
      )
    return { ...wanted, etag }
  } catch (error) {
    answer.body.on('error', () => {}).destroy()
    throw error
  }
}

/** Base64; of all bytes, not of the checksums of parts. */
function claimOf(headers: Readonly<Record<string, string>>): string | undefined {
  const isComposite = headers['x-amz-checksum-type']?.toUpperCase() === 'COMPOSITE'
  const value = headers['x-amz-checksum-sha256']?.trim()
  return !isComposite && /^[A-Za-z0-9+/]{43}=$/.test(value ?? '') ? value : undefined
}

const odd = (requests: S3Requests, why: string): TargetCorrupt =>
  new TargetCorrupt(`${requests.description} is not to be trusted: ${why}`)
