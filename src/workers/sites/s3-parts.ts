/**
 * One version to another site as a multipart upload. [AWS S3 API reference: CreateMultipartUpload, UploadPart, CompleteMultipartUpload]
 *
 * Owns: the order of the requests. Knows nothing of: what is said of the version, conditions. Rules: each part is compared with the digest of what was
 * read before the version becomes visible; memory does not depend on the size of a part; an upload that fails is given up at the target, also when
 * this node no longer sends.
 */
import { createHash } from 'node:crypto'
import type { ReadElement } from '../../api/s3/xml/read-xml.ts'
import { element, xmlDocument } from '../../api/s3/xml/write-xml.ts'
import type { ByteRange } from '../../content/range.ts'
import { type RemotePut, SiteFault } from '../../operations/base/remote-store.ts'
import { unquoted } from '../../s3-client/object-listing.ts'
import type { SiteAnswer, SiteRequest } from './s3-requests.ts'

/** A part whose connection was lost is read and sent again. */
const PART_TRIES_MAX = 3
/** S3 answers within minutes, and sends blanks until then. */
const COMPLETION_MS_MAX = 10 * 60_000
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const MD5_ETAG = /^[0-9a-f]{32}$/

/** Requests to one target. */
export interface PartRequests {
  readonly ask: (request: SiteRequest) => Promise<SiteAnswer>
  readonly xml: (request: SiteRequest) => Promise<ReadElement>
  /** Sent also after the end of the duty; never rejects. */
  readonly askAtLast: (request: SiteRequest) => Promise<void>
  /** Aborted: nothing is tried again. */
  readonly signal: AbortSignal
}

export interface PartsOfVersion {
  readonly key: string
  readonly parts: readonly ByteRange[]
  readonly body: RemotePut['body']
  /** Of the version. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of the completion: what has to be at the key. */
  readonly conditions: Readonly<Record<string, string>>
}

/** Resolves with true when the target has compared or shown the digest of every part. Throws SiteFault, and what reading the version throws. */
export async function putInParts(requests: PartRequests, version: PartsOfVersion): Promise<boolean> {
  const { key, headers } = version
  const create = { method: 'POST', action: 'CreateMultipartUpload', key, headers } as const
  const uploadId = (await requests.xml({ ...create, query: { uploads: '' } })).textOf('UploadId')?.trim()
  if (uploadId === undefined || uploadId === '')
    throw new SiteFault('failed', 'The answer to CreateMultipartUpload has no UploadId')
  try {
    return await sendAll(requests, version, uploadId)
  } catch (error) {
    const abort = { method: 'DELETE', action: 'AbortMultipartUpload', key, query: { uploadId } } as const
    await requests.askAtLast(abort)
    throw error
  }
}

async function sendAll(requests: PartRequests, version: PartsOfVersion, uploadId: string): Promise<boolean> {
  const etags: string[] = []
  let isProved = true
  for (const [n, range] of version.parts.entries()) {
    const { etag, md5 } = await sendPart(requests, version, { uploadId, number: n + 1, range })
    if (!MD5_ETAG.test(etag)) isProved = false
    else if (etag !== md5)
      throw new SiteFault('failed', `The target stored other bytes of part ${n + 1} than it was sent`)
    etags.push(etag)
  }
  await complete(requests, version, { uploadId, etags })
  return isProved
}

interface PartPlace {
  readonly uploadId: string
  readonly number: number
  readonly range: ByteRange
}

async function sendPart(
  { ask, signal }: PartRequests,
  { key, body }: PartsOfVersion,
  { uploadId, number, range }: PartPlace,
): Promise<{ readonly etag: string; readonly md5: string }> {
  const length = range.end - range.start
  const query = { partNumber: `${number}`, uploadId }
  for (let tried = 1; ; tried++) {
    const md5 = createHash('md5')
    const bytes = length === 0 ? new Uint8Array(0) : digested(body(range), md5)
    const request = { method: 'PUT', action: 'UploadPart', key, query, body: { bytes, length } } as const
    try {
      const { headers } = await ask({ ...request, bodyHash: UNSIGNED })
      return { etag: unquoted(headers['etag'] ?? ''), md5: md5.digest('hex') }
    } catch (error) {
      const mayHelp = error instanceof SiteFault && error.kind === 'unreachable' && error.s3Code === null
      if (!mayHelp || signal.aborted || tried === PART_TRIES_MAX) throw error
    }
  }
}

async function* digested(bytes: AsyncIterable<Uint8Array>, md5: ReturnType<typeof createHash>) {
  for await (const piece of bytes) {
    md5.update(piece)
    yield piece
  }
}

async function complete(
  { xml }: PartRequests,
  { key, parts, conditions }: PartsOfVersion,
  { uploadId, etags }: { readonly uploadId: string; readonly etags: readonly string[] },
): Promise<void> {
  const named = etags.map((etag, n) =>
    element('Part', element('PartNumber', `${n + 1}`), element('ETag', `"${etag}"`)),
  )
  const bytes = xmlDocument(element('CompleteMultipartUpload', ...named))
  const size = { 'x-amz-mp-object-size': `${parts.at(-1)?.end ?? 0}` }
  const request = {
    method: 'POST',
    action: 'CompleteMultipartUpload',
    key,
    query: { uploadId },
    headers: { 'content-type': 'application/xml', ...size },
    body: { bytes, length: bytes.length },
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    answerMsMax: COMPLETION_MS_MAX,
  } as const
  const root = await xml({ ...request, headers: { ...request.headers, ...conditions } }).catch((error) => {
    // A store that knows no conditions here says so before it changes anything.
    if (!(error instanceof SiteFault) || error.s3Code !== 'NotImplemented') throw error
    return xml(request)
  })
  // The status of a late answer was sent before its outcome was known.
  if (root.name !== 'Error') return
  const s3Code = root.textOf('Code')?.trim() ?? 'Error'
  throw new SiteFault('failed', `CompleteMultipartUpload ended with ${s3Code.slice(0, 80)}`, { s3Code })
}
