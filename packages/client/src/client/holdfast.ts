/**
 * The client of the data plane: a method for each operation, all pages of listings, uploads and downloads of any size.
 */
import { ApiClient } from '../call/api-client.ts'
import type { MethodOptions } from '../call/methods.ts'
import type { Body } from '../call/operation.ts'
import type { Clock } from '../call/transport.ts'
import { DataMethods, type PutObjectInput } from '../generated/data-methods.ts'
import { DATA_ROUTES, type DataOperations, type StoredObject } from '../generated/data-operations.ts'
import { type Download, download, type DownloadOptions } from '../transfers/download.ts'
import { repeatable } from '../transfers/repeatable.ts'
import { upload, type UploadOptions } from '../transfers/upload.ts'
import { type DataCredentials, tokensOf } from './credentials.ts'
import { type HoldfastOptions, partsOf } from './options.ts'

/** Without credentials a client can use signed URLs only. */
export type DataOptions = HoldfastOptions &
  (DataCredentials | { readonly token?: never; readonly accessKeyId?: never })

export class Holdfast extends DataMethods {
  readonly #clock: Clock

  /** Throws TypeError when an endpoint, the credentials or an option cannot work. Sends nothing. */
  constructor(options: DataOptions) {
    const parts = partsOf('data', options, ['accessKeyId', 'secretKey', 'token'])
    const client = new ApiClient<DataOperations, ReadableStream<Uint8Array>>(
      DATA_ROUTES,
      parts,
      tokensOf(parts, options),
    )
    super(DATA_ROUTES, (operation, call, sending) =>
      client.send(operation as keyof DataOperations, call, sending),
    )
    this.#clock = parts.clock
  }

  /** Store an object. Bytes and text are sent with their SHA-256 and an idempotency key, so that the call can be repeated. */
  override async putObject(input: PutObjectInput, options?: MethodOptions): Promise<StoredObject> {
    return super.putObject(await repeatable(input), options)
  }

  /** Stores a body of any size: in one request, or in parts, several at once. */
  upload(bucket: string, key: string, body: Body, options: UploadOptions = {}): Promise<StoredObject> {
    return upload(this, { bucket, key }, body, options)
  }

  /** An object of any size: a broken connection is resumed, and the end of the stream is reached only with the right bytes. */
  download(bucket: string, key: string, options: DownloadOptions = {}): Promise<Download> {
    return download(this, { bucket, key }, options, this.#clock)
  }
}
