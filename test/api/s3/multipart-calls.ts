/**
 * Multipart uploads in the bucket `photos` through the S3 API.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type S3Answer, S3World } from './s3-world.ts'

export const MIB = 1024 * 1024
export const PART_MIN = 5 * MIB

export interface S3Part {
  readonly partNumber: number
  readonly etag: string
}

export const md5Of = (bytes: string | Buffer): string => createHash('md5').update(bytes).digest('hex')

/** `inner`: behind the number and the tag of each part. */
export function completionOf(parts: readonly (S3Part & { readonly inner?: string })[]): string {
  const elements = parts.map(
    ({ partNumber, etag, inner = '' }) =>
      `<Part><PartNumber>${partNumber}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag>${inner}</Part>`,
  )
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${elements.join('')}</CompleteMultipartUpload>`
}

export class MultipartCalls {
  readonly s3: S3World
  readonly path: string

  /** `key`: percent-encoded. */
  constructor(s3: S3World, key: string) {
    this.s3 = s3
    this.path = `/photos/${key}`
  }

  async begin(headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const started = await this.s3.call({ method: 'POST', path: `${this.path}?uploads`, headers })
    assert.equal(started.status, 200, started.bytes.toString())
    return started.xml?.textOf('UploadId') ?? ''
  }

  put(uploadId: string, partNumber: number | string, body: string | Buffer, headers = {}): Promise<S3Answer> {
    const path = `${this.path}?partNumber=${partNumber}&uploadId=${uploadId}`
    return this.s3.call({ method: 'PUT', path, body, headers })
  }

  /** Asserts that the part is stored. */
  async part(uploadId: string, partNumber: number, body: string | Buffer, headers = {}): Promise<S3Part> {
    const stored = await this.put(uploadId, partNumber, body, headers)
    assert.equal(stored.status, 200, stored.bytes.toString())
    return { partNumber, etag: String(stored.headers.etag) }
  }

  copy(
    uploadId: string,
    partNumber: number | string,
    headers: Readonly<Record<string, string>>,
  ): Promise<S3Answer> {
    const path = `${this.path}?partNumber=${partNumber}&uploadId=${uploadId}`
    return this.s3.call({ method: 'PUT', path, headers })
  }

  complete(uploadId: string, parts: readonly S3Part[] | string, headers = {}): Promise<S3Answer> {
    const body = typeof parts === 'string' ? parts : completionOf(parts)
    return this.s3.call({ method: 'POST', path: `${this.path}?uploadId=${uploadId}`, body, headers })
  }

  abort(uploadId: string): Promise<S3Answer> {
    return this.s3.call({ method: 'DELETE', path: `${this.path}?uploadId=${uploadId}` })
  }

  list(uploadId: string, query = ''): Promise<S3Answer> {
    return this.s3.call({ path: `${this.path}?uploadId=${uploadId}${query}` })
  }
}
