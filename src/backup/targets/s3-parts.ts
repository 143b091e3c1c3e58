/**
 * A value in parts: cut, hashed, and sent as a multipart upload. [AWS S3 API reference: multipart upload]
 *
 * Owns: the cut, and the order of the requests. Rules: one part is in memory; an upload that fails is aborted, so that the store does not keep its
 * parts; a completion whose answer was lost is no failure where the object is there.
 */
import { createHash } from 'node:crypto'
import { MalformedXmlError, type ReadElement, readXml } from '../../api/s3/xml/read-xml.ts'
import type { S3Requests } from './s3-requests.ts'
import { TargetCorrupt, TargetRefused, TargetUnreachable } from './target.ts'

export interface S3Part {
  readonly bytes: Uint8Array
  /** SHA-256. */
  readonly hash: Buffer
}

export interface Gathering {
  readonly name: string
  readonly size: number
  readonly partBytes: number
}

/** Parts of `partBytes`, the last one shorter; an empty value has one. Throws TargetRefused where `bytes` are not `size` bytes. */
export async function* gather(
  bytes: AsyncIterable<Uint8Array>,
  { name, size, partBytes }: Gathering,
): AsyncGenerator<S3Part> {
  let part = Buffer.allocUnsafe(Math.min(size, partBytes))
  let filled = 0
  let seen = 0
  for await (const piece of bytes) {
    seen += piece.length
    if (seen > size) throw uneven(name, `more than ${size}`)
    for (let at = 0; at < piece.length; ) {
      if (filled === part.length) {
        yield whole(part)
        part = Buffer.allocUnsafe(Math.min(size - (seen - piece.length + at), partBytes))
        filled = 0
      }
      const taken = Math.min(piece.length - at, part.length - filled)
      part.set(piece.subarray(at, at + taken), filled)
      filled += taken
      at += taken
    }
  }
  if (seen < size) throw uneven(name, `${seen} and not ${size}`)
  yield whole(part)
}

const whole = (bytes: Buffer): S3Part => ({ bytes, hash: createHash('sha256').update(bytes).digest() })

const uneven = (name: string, why: string): TargetRefused =>
  new TargetRefused(`Cannot write ${name}: its bytes are ${why}`)

export interface Upload {
  readonly name: string
  readonly key: string
  readonly parts: AsyncIterable<S3Part>
}

interface Sent {
  readonly etag: string
  readonly checksum: string
}

/** Throws TargetError. */
export async function uploadParts(requests: S3Requests, { name, key, parts }: Upload): Promise<void> {
  const uploadId = await startUpload(requests, { name, key })
  try {
    const sent: Sent[] = []
    for await (const part of parts)
      sent.push(await sendPart(requests, { name, key, uploadId, part, number: sent.length + 1 }))
    await complete(requests, { name, key, uploadId, sent })
  } catch (error) {
    const abort = {
      method: 'DELETE',
      action: `AbortMultipartUpload ${name}`,
      key,
      query: { uploadId },
    } as const
    // What failed is what the caller is to hear; parts that stay are for the store to expire.
    await requests.order(abort).catch(() => undefined)
    throw error
  }
}

async function startUpload(
  requests: S3Requests,
  { name, key }: Pick<Upload, 'name' | 'key'>,
): Promise<string> {
  const root = await documentOf(requests, {
    method: 'POST',
    action: `CreateMultipartUpload ${name}`,
    key,
    query: { uploads: '' },
    headers: { 'content-type': 'application/octet-stream', 'x-amz-checksum-algorithm': 'SHA256' },
  })
  const uploadId = root.textOf('UploadId')?.trim() ?? ''
  if (uploadId === '')
    throw new TargetCorrupt(`${requests.description} began an upload of ${name} without an id`)
  return uploadId
}

interface PartToSend extends Pick<Upload, 'name' | 'key'> {
  readonly uploadId: string
  readonly part: S3Part
  readonly number: number
}

async function sendPart(
  requests: S3Requests,
  { name, key, uploadId, part, number }: PartToSend,
): Promise<Sent> {
  const checksum = part.hash.toString('base64')
  const { headers } = await requests.order({
    method: 'PUT',
    action: `UploadPart ${number} of ${name}`,
    key,
    query: { partNumber: `${number}`, uploadId },
    headers: { 'content-length': `${part.bytes.length}`, 'x-amz-checksum-sha256': checksum },
    body: part.bytes,
    bodyHash: part.hash.toString('hex'),
  })
  const kept = headers['x-amz-checksum-sha256']
  if (kept !== undefined && kept !== checksum)
    throw new TargetCorrupt(
      `${requests.description} is not to be trusted: it says that it keeps part ${number} of ${name} with another checksum`,
    )
  return { etag: headers['etag'] ?? '', checksum }
}

interface ToComplete extends Pick<Upload, 'name' | 'key'> {
  readonly uploadId: string
  readonly sent: readonly Sent[]
}

async function complete(requests: S3Requests, { name, key, uploadId, sent }: ToComplete): Promise<void> {
  const parts = sent.map(
    ({ etag, checksum }, n) =>
      `<Part><PartNumber>${n + 1}</PartNumber><ETag>${escaped(etag)}</ETag><ChecksumSHA256>${checksum}</ChecksumSHA256></Part>`,
  )
  const body = Buffer.from(
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
  )
  const root = await documentOf(requests, {
    method: 'POST',
    action: `CompleteMultipartUpload ${name}`,
    key,
    query: { uploadId },
    headers: { 'content-length': `${body.length}`, 'content-type': 'application/xml' },
    body,
    bodyHash: createHash('sha256').update(body).digest('hex'),
  })
  // A store may begin to answer before it knows that it cannot.
  if (root.name === 'Error')
    throw new TargetUnreachable(
      `${requests.description} did not complete ${name}: ${(root.textOf('Code') ?? 'no code').slice(0, 80)}`,
    )
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const BOUNDS = { bytesMax: 64 * 1024, elementsMax: 100, depthMax: 8 }

async function documentOf(
  requests: S3Requests,
  request: Parameters<S3Requests['ask']>[0],
): Promise<ReadElement> {
  const { body } = await requests.ask(request)
  try {
    return await readXml(body, BOUNDS)
  } catch (cause) {
    body.on('error', () => {}).destroy()
    if (cause instanceof MalformedXmlError)
      throw new TargetCorrupt(
        `${requests.description} answered ${request.action} with what cannot be read: ${cause.message}`,
        { cause },
      )
    throw new TargetUnreachable(`${requests.description} broke off its answer to ${request.action}`, {
      cause,
    })
  }
}
