/**
 * The methods of the data plane as docs/openapi/data.json has them. Made by `node scripts/pages/client-types.ts`.
 */
import { Methods } from '../methods/methods-base.ts'
import type { MethodOptions } from '../call/methods.ts'
import type { Body } from '../call/operation.ts'
import type { ObjectDownload, ObjectHead } from '../methods/object-head.ts'
import type { DataOperations, Retention, LegalHold } from './data-operations.ts'

export interface GetOpenAPIInput {
  /** The ETag of a copy that the client has */ readonly ifNoneMatch?: string
}

export interface CreateTokenInput {
  readonly accessKeyId?: string
  readonly secretKey?: string
}

export interface CreateTemporaryTokenInput {
  /** Letters, digits and _+=,.@-; recorded with each request */ readonly sessionName: string
  /** Within those of the key; all of them unless given */ readonly scopes?: string
  /** 3600 unless said otherwise */ readonly ttlSeconds?: number
}

export interface SignURLInput {
  readonly method: "GET" | "PUT"
  readonly bucket: string
  readonly key?: string
  /** PUT only; the uploader chooses the rest */ readonly keyPrefix?: string
  /** 900 unless said otherwise */ readonly ttlSeconds?: number
  /** PUT only; stored whatever the upload says */ readonly contentType?: string
  /** PUT only */ readonly contentLengthMax?: number
  /** PUT only; needs checksumVal */ readonly checksumAlg?: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256"
  /** PUT only, base64; needs checksumAlg */ readonly checksumVal?: string
  /** PUT only */ readonly idempotencyKey?: string
  /** GET only */ readonly responseContentType?: string
  /** GET only */ readonly responseContentDisposition?: string
  readonly reason?: string
}

export interface GetSignedInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly token: string
  /** One range of bytes, such as bytes=0-99, bytes=100- or bytes=-100 */ readonly range?: string
  /** Ignore Range unless this etag or date still holds */ readonly ifRange?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
  /** Answer 304 when the etag is one of these */ readonly ifNoneMatch?: string
  /** Answer 304 when not stored since */ readonly ifModifiedSince?: string
  /** Answer 412 when stored since */ readonly ifUnmodifiedSince?: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
}

export interface PutSignedInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly token: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32C?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC64NVME?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA1?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA256?: string
  /** base64 MD5 of the body to verify, as in RFC 1864; it is not kept */ readonly contentMD5?: string
  /** Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64: */ readonly contentDigest?: string
  /** The same */ readonly reprDigest?: string
  /** User metadata, 2 KiB in all */ readonly metadata?: Readonly<Record<string, string>>
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly cacheControl?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly contentDisposition?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly contentEncoding?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly contentLanguage?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly expires?: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
  /** Answer 412 when the etag is one of these; *: when there is an object */ readonly ifNoneMatch?: string
  /** 1 to 255 printable ASCII characters */ readonly idempotencyKey?: string
  /** application/octet-stream unless given */ readonly contentType?: string
  readonly body: Body
}

export interface ListBucketsInput {
  readonly prefix?: string
  readonly maxBuckets?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
  readonly include?: "usage"
}

export interface CreateBucketInput {
  readonly name: string
  /** Unversioned, Enabled, Suspended */ readonly versioning?: string
  readonly objectLockEnabled?: boolean
}

export interface GetBucketInput {
  readonly bucket: string
}

export interface DeleteBucketInput {
  readonly bucket: string
}

export interface GetBucketUsageInput {
  readonly bucket: string
}

export interface GetBucketVersioningInput {
  readonly bucket: string
}

export interface SetBucketVersioningInput {
  readonly bucket: string
  /** Enabled or Suspended */ readonly status: string
}

export interface GetBucketObjectLockInput {
  readonly bucket: string
}

export interface SetBucketObjectLockInput {
  readonly bucket: string
  readonly defaultRetention?: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days?: number; /** of 365 days each */ readonly years?: number } | null
}

export interface GetBucketCORSInput {
  readonly bucket: string
}

export interface SetBucketCORSInput {
  readonly bucket: string
  readonly rules: readonly ({ readonly id?: string; readonly allowedOrigins: readonly (string)[]; readonly allowedMethods: readonly ("GET" | "HEAD" | "PUT" | "POST" | "DELETE")[]; readonly allowedHeaders?: readonly (string)[]; readonly exposeHeaders?: readonly (string)[]; readonly maxAgeSeconds?: number })[]
}

export interface DeleteBucketCORSInput {
  readonly bucket: string
}

export interface GetBucketLifecycleInput {
  readonly bucket: string
}

export interface SetBucketLifecycleInput {
  readonly bucket: string
  readonly rules: readonly ({ readonly id?: string; readonly status: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly sizeGreaterThan?: number; readonly sizeLessThan?: number }; /** One of the three. A delete marker under which no version is left goes by the third, and by days */ readonly expiration?: { readonly days?: number; /** A midnight in UTC */ readonly date?: string; readonly expiredObjectDeleteMarker?: boolean }; readonly noncurrentVersionExpiration?: { readonly noncurrentDays: number; readonly newerNoncurrentVersions?: number }; readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number } })[]
}

export interface DeleteBucketLifecycleInput {
  readonly bucket: string
}

export interface PreviewBucketLifecycleInput {
  readonly bucket: string
  readonly rules?: readonly ({ readonly id?: string; readonly status: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly sizeGreaterThan?: number; readonly sizeLessThan?: number }; /** One of the three. A delete marker under which no version is left goes by the third, and by days */ readonly expiration?: { readonly days?: number; /** A midnight in UTC */ readonly date?: string; readonly expiredObjectDeleteMarker?: boolean }; readonly noncurrentVersionExpiration?: { readonly noncurrentDays: number; readonly newerNoncurrentVersions?: number }; readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number } })[]
  readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface GetBucketReplicationInput {
  readonly bucket: string
}

export interface SetBucketReplicationInput {
  readonly bucket: string
  readonly target: { /** Address of the store, without a bucket */ readonly endpoint: string; /** Usually us-east-1 */ readonly region?: string; /** The bucket is part of the name of the host */ readonly virtualHost?: boolean; readonly accessKeyId: string; readonly bucket: string; /** Never shown again. Absent: the present one stays, with endpoint and accessKeyId */ readonly secretKey?: string }
  readonly rules?: readonly ({ readonly id?: string; readonly status?: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>> }; /** Which deletions go there: none; markers, which name no version; all, also of versions by their id. Usually markers, and none of a rule with tags */ readonly deletes?: "none" | "markers" | "all" })[]
  /** Send what the bucket holds already too */ readonly existing?: boolean
}

export interface DeleteBucketReplicationInput {
  readonly bucket: string
}

export interface GetReplicationStatusInput {
  readonly bucket: string
}

export interface ResyncBucketReplicationInput {
  readonly bucket: string
}

export interface RetryBucketReplicationInput {
  readonly bucket: string
}

export interface CompareBucketReplicationInput {
  readonly bucket: string
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface ListObjectsInput {
  readonly bucket: string
  readonly prefix?: string
  readonly delimiter?: string
  readonly maxKeys?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
  readonly startAfter?: string
  readonly include?: "metadata"
}

export interface PutObjectInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32C?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC64NVME?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA1?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA256?: string
  /** base64 MD5 of the body to verify, as in RFC 1864; it is not kept */ readonly contentMD5?: string
  /** Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64: */ readonly contentDigest?: string
  /** The same */ readonly reprDigest?: string
  /** User metadata, 2 KiB in all */ readonly metadata?: Readonly<Record<string, string>>
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly cacheControl?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly contentDisposition?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly contentEncoding?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly contentLanguage?: string
  /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly expires?: string
  /** Tags, written like a query: env=prod&team=web */ readonly tags?: Readonly<Record<string, string>>
  /** GOVERNANCE or COMPLIANCE; needs X-Service-Retain-Until */ readonly retentionMode?: "GOVERNANCE" | "COMPLIANCE"
  /** RFC 3339; needs X-Service-Retention-Mode */ readonly retainUntil?: string
  /** ON or OFF */ readonly legalHold?: "ON" | "OFF"
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
  /** Answer 412 when the etag is one of these; *: when there is an object */ readonly ifNoneMatch?: string
  /** 1 to 255 printable ASCII characters */ readonly idempotencyKey?: string
  /** application/octet-stream unless given */ readonly contentType?: string
  readonly body: Body
}

export interface GetObjectInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
  /** One range of bytes, such as bytes=0-99, bytes=100- or bytes=-100 */ readonly range?: string
  /** Ignore Range unless this etag or date still holds */ readonly ifRange?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
  /** Answer 304 when the etag is one of these */ readonly ifNoneMatch?: string
  /** Answer 304 when not stored since */ readonly ifModifiedSince?: string
  /** Answer 412 when stored since */ readonly ifUnmodifiedSince?: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
}

export interface HeadObjectInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
  /** Answer 304 when the etag is one of these */ readonly ifNoneMatch?: string
  /** Answer 304 when not stored since */ readonly ifModifiedSince?: string
  /** Answer 412 when stored since */ readonly ifUnmodifiedSince?: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
}

export interface DeleteObjectInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
}

export interface BatchDeleteObjectsInput {
  readonly bucket: string
  readonly objects: readonly ({ /** What is no key fails by itself */ readonly key: string; readonly versionId?: string })[]
  readonly quiet?: boolean
}

export interface CopyObjectInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
  /** AES256: the source of the copy is sealed with the key of the next header */ readonly copySourceCustomerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly copySourceCustomerKey?: string
  /** base64 of the MD5 of these bytes */ readonly copySourceCustomerKeyMD5?: string
  readonly sourceBucket: string
  readonly sourceKey: string
  readonly sourceVersionId?: string
  /** COPY (as if not given) or REPLACE */ readonly metadataDirective?: "COPY" | "REPLACE"
  readonly contentType?: string
  /** Names and values as headers carry them, 2 KiB in all */ readonly metadata?: Readonly<Record<string, string>>
  readonly cacheControl?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly expires?: string
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
  readonly ifModifiedSince?: string
  readonly ifUnmodifiedSince?: string
  readonly requireAbsent?: boolean
  readonly requireMatchEtag?: string
}

export interface ListObjectVersionsInput {
  readonly bucket: string
  readonly prefix?: string
  readonly delimiter?: string
  readonly maxKeys?: number
  readonly keyMarker?: string
  readonly versionIdMarker?: string
}

export interface GetObjectTagsInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
}

export interface SetObjectTagsInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
  /** At most 10; values of at most 256 characters */ readonly tags: Readonly<Record<string, string>>
}

export interface DeleteObjectTagsInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
}

export interface GetObjectRetentionInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
}

export interface SetObjectRetentionInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
  readonly mode: "GOVERNANCE" | "COMPLIANCE"
  /** RFC 3339, with any offset */ readonly retainUntil: string
}

export interface GetObjectLegalHoldInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
}

export interface SetObjectLegalHoldInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly versionId?: string
  readonly status: "ON" | "OFF"
}

export interface CreateMultipartUploadInput {
  readonly bucket: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  /** Computed of every part: CRC32, CRC32C, CRC64NVME, SHA1, SHA256 */ readonly checksumAlgorithm?: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256"
  /** GOVERNANCE or COMPLIANCE; needs X-Service-Retain-Until */ readonly retentionMode?: "GOVERNANCE" | "COMPLIANCE"
  /** RFC 3339; needs X-Service-Retention-Mode */ readonly retainUntil?: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
  readonly contentType?: string
  /** Names and values as headers carry them, 2 KiB in all */ readonly metadata?: Readonly<Record<string, string>>
  readonly cacheControl?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly expires?: string
  /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>
  readonly retention?: Retention
  readonly legalHold?: LegalHold
  readonly checksumAlg?: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256"
}

export interface CompleteMultipartUploadInput {
  readonly bucket: string
  readonly uploadId: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32C?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC64NVME?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA1?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA256?: string
  /** Answer 412 unless the etag is one of these */ readonly ifMatch?: string
  /** Answer 412 when the etag is one of these; *: when there is an object */ readonly ifNoneMatch?: string
  readonly parts: readonly ({ readonly partNumber: number; readonly etag: string })[]
}

export interface AbortMultipartUploadInput {
  readonly bucket: string
  readonly uploadId: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
}

export interface ListMultipartUploadsInput {
  readonly bucket: string
  readonly prefix?: string
  readonly keyMarker?: string
  readonly uploadIdMarker?: string
  readonly maxUploads?: number
}

export interface UploadPartInput {
  readonly bucket: string
  readonly uploadId: string
  readonly partNumber: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC32C?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumCRC64NVME?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA1?: string
  /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly checksumSHA256?: string
  /** base64 MD5 of the body to verify, as in RFC 1864; it is not kept */ readonly contentMD5?: string
  /** Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64: */ readonly contentDigest?: string
  /** The same */ readonly reprDigest?: string
  /** AES256: the object is sealed with the key of the next header */ readonly customerAlgorithm?: "AES256"
  /** base64 of the 32 bytes; over TLS only, and never kept */ readonly customerKey?: string
  /** base64 of the MD5 of these bytes */ readonly customerKeyMD5?: string
  /** application/octet-stream unless given */ readonly contentType?: string
  readonly body: Body
}

export interface ListPartsInput {
  readonly bucket: string
  readonly uploadId: string
  /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string
  readonly maxParts?: number
  readonly partNumberMarker?: number
}

export interface GetBucketNotificationsInput {
  readonly bucket: string
}

export interface SetBucketNotificationsInput {
  readonly bucket: string
  readonly configs: readonly ({ /** 1 to 64 letters, digits, ".", "_", "-"; made when absent */ readonly id?: string; readonly kind?: "webhook"; /** https, and http only where an operator allows it */ readonly url: string; readonly events: readonly ("object-created" | "object-removed" | "object-tagged" | "object-lock-changed")[]; /** Of the key; at most 1,024 bytes */ readonly prefix?: string; /** Of the key; at most 1,024 bytes */ readonly suffix?: string; readonly enabled?: boolean; readonly payloadFormat?: "native" | "s3" })[]
}

export interface DeleteBucketNotificationsInput {
  readonly bucket: string
}

export interface ListNotificationDeliveriesInput {
  readonly bucket: string
  readonly configId?: string
  readonly status?: "pending" | "delivered" | "dead"
  readonly maxDeliveries?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface RedeliverNotificationInput {
  readonly bucket: string
  readonly deliveryId: string
}

export interface TestNotificationInput {
  readonly bucket: string
  readonly configId: string
}

/** The operations with pages: their inputs and pages. */
export interface DataPages {
  readonly listBuckets: { readonly input: ListBucketsInput; readonly page: DataOperations['listBuckets']['answer'] }
  readonly listObjects: { readonly input: ListObjectsInput; readonly page: DataOperations['listObjects']['answer'] }
  readonly listObjectVersions: { readonly input: ListObjectVersionsInput; readonly page: DataOperations['listObjectVersions']['answer'] }
  readonly listMultipartUploads: { readonly input: ListMultipartUploadsInput; readonly page: DataOperations['listMultipartUploads']['answer'] }
  readonly listParts: { readonly input: ListPartsInput; readonly page: DataOperations['listParts']['answer'] }
  readonly listNotificationDeliveries: { readonly input: ListNotificationDeliveriesInput; readonly page: DataOperations['listNotificationDeliveries']['answer'] }
}

export abstract class DataMethods extends Methods<DataPages> {
  /** The process answers */
  healthz(options?: MethodOptions): Promise<DataOperations['healthz']['answer']> {
    return this.run('healthz', undefined, options)
  }

  /** The node can serve requests, or says what is missing */
  readyz(options?: MethodOptions): Promise<DataOperations['readyz']['answer']> {
    return this.run('readyz', undefined, options)
  }

  /** This contract as an OpenAPI 3.1 document */
  getOpenAPI(input?: GetOpenAPIInput, options?: MethodOptions): Promise<DataOperations['getOpenAPI']['answer']> {
    return this.run('getOpenAPI', input, options)
  }

  /** Exchange an access key for a short-lived bearer token */
  createToken(input?: CreateTokenInput, options?: MethodOptions): Promise<DataOperations['createToken']['answer']> {
    return this.run('createToken', input, options)
  }

  /** Make a temporary credential that may do less than the access key */
  createTemporaryToken(input: CreateTemporaryTokenInput, options?: MethodOptions): Promise<DataOperations['createTemporaryToken']['answer']> {
    return this.run('createTemporaryToken', input, options)
  }

  /** Make a URL that opens one object to its holder */
  signURL(input: SignURLInput, options?: MethodOptions): Promise<DataOperations['signURL']['answer']> {
    return this.run('signURL', input, options)
  }

  /** Read an object by a signed URL */
  getSigned(input: GetSignedInput, options?: MethodOptions): Promise<ObjectDownload> {
    return this.run('getSigned', input, options)
  }

  /** Store an object by a signed URL */
  putSigned(input: PutSignedInput, options?: MethodOptions): Promise<DataOperations['putSigned']['answer']> {
    return this.run('putSigned', input, options)
  }

  /** List the buckets of the tenant */
  listBuckets(input?: ListBucketsInput, options?: MethodOptions): Promise<DataOperations['listBuckets']['answer']> {
    return this.run('listBuckets', input, options)
  }

  /** Create a private bucket */
  createBucket(input: CreateBucketInput, options?: MethodOptions): Promise<DataOperations['createBucket']['answer']> {
    return this.run('createBucket', input, options)
  }

  /** Get a bucket */
  getBucket(input: GetBucketInput, options?: MethodOptions): Promise<DataOperations['getBucket']['answer']> {
    return this.run('getBucket', input, options)
  }

  /** Delete an empty bucket */
  deleteBucket(input: DeleteBucketInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteBucket', input, options)
  }

  /** Get the exact counts of a bucket */
  getBucketUsage(input: GetBucketUsageInput, options?: MethodOptions): Promise<DataOperations['getBucketUsage']['answer']> {
    return this.run('getBucketUsage', input, options)
  }

  /** Get the state of versioning */
  getBucketVersioning(input: GetBucketVersioningInput, options?: MethodOptions): Promise<DataOperations['getBucketVersioning']['answer']> {
    return this.run('getBucketVersioning', input, options)
  }

  /** Keep versions from now on, or stop to */
  setBucketVersioning(input: SetBucketVersioningInput, options?: MethodOptions): Promise<DataOperations['setBucketVersioning']['answer']> {
    return this.run('setBucketVersioning', input, options)
  }

  /** Get whether a bucket has object lock, and its default retention */
  getBucketObjectLock(input: GetBucketObjectLockInput, options?: MethodOptions): Promise<DataOperations['getBucketObjectLock']['answer']> {
    return this.run('getBucketObjectLock', input, options)
  }

  /** Switch object lock on for good, and set the default retention */
  setBucketObjectLock(input: SetBucketObjectLockInput, options?: MethodOptions): Promise<DataOperations['setBucketObjectLock']['answer']> {
    return this.run('setBucketObjectLock', input, options)
  }

  /** Get the CORS rules of a bucket */
  getBucketCORS(input: GetBucketCORSInput, options?: MethodOptions): Promise<DataOperations['getBucketCORS']['answer']> {
    return this.run('getBucketCORS', input, options)
  }

  /** Replace the CORS rules of a bucket */
  setBucketCORS(input: SetBucketCORSInput, options?: MethodOptions): Promise<DataOperations['setBucketCORS']['answer']> {
    return this.run('setBucketCORS', input, options)
  }

  /** Remove the CORS rules of a bucket; that there were none is no error */
  deleteBucketCORS(input: DeleteBucketCORSInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteBucketCORS', input, options)
  }

  /** Get the lifecycle rules of a bucket */
  getBucketLifecycle(input: GetBucketLifecycleInput, options?: MethodOptions): Promise<DataOperations['getBucketLifecycle']['answer']> {
    return this.run('getBucketLifecycle', input, options)
  }

  /** Replace the lifecycle rules of a bucket */
  setBucketLifecycle(input: SetBucketLifecycleInput, options?: MethodOptions): Promise<DataOperations['setBucketLifecycle']['answer']> {
    return this.run('setBucketLifecycle', input, options)
  }

  /** Remove the lifecycle rules of a bucket; that there were none is no error */
  deleteBucketLifecycle(input: DeleteBucketLifecycleInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteBucketLifecycle', input, options)
  }

  /** Show what lifecycle rules would do now */
  previewBucketLifecycle(input: PreviewBucketLifecycleInput, options?: MethodOptions): Promise<DataOperations['previewBucketLifecycle']['answer']> {
    return this.run('previewBucketLifecycle', input, options)
  }

  /** Get the replication of a bucket */
  getBucketReplication(input: GetBucketReplicationInput, options?: MethodOptions): Promise<DataOperations['getBucketReplication']['answer']> {
    return this.run('getBucketReplication', input, options)
  }

  /** Replicate a bucket to another Holdfast or S3 store */
  setBucketReplication(input: SetBucketReplicationInput, options?: MethodOptions): Promise<DataOperations['setBucketReplication']['answer']> {
    return this.run('setBucketReplication', input, options)
  }

  /** End the replication of a bucket; that there was none is no error */
  deleteBucketReplication(input: DeleteBucketReplicationInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteBucketReplication', input, options)
  }

  /** Show what of a bucket is not at its other site yet */
  getReplicationStatus(input: GetReplicationStatusInput, options?: MethodOptions): Promise<DataOperations['getReplicationStatus']['answer']> {
    return this.run('getReplicationStatus', input, options)
  }

  /** Queue what a bucket holds for its other site */
  resyncBucketReplication(input: ResyncBucketReplicationInput, options?: MethodOptions): Promise<DataOperations['resyncBucketReplication']['answer']> {
    return this.run('resyncBucketReplication', input, options)
  }

  /** Send changes again that were given up */
  retryBucketReplication(input: RetryBucketReplicationInput, options?: MethodOptions): Promise<DataOperations['retryBucketReplication']['answer']> {
    return this.run('retryBucketReplication', input, options)
  }

  /** Compare a bucket with its other site */
  compareBucketReplication(input: CompareBucketReplicationInput, options?: MethodOptions): Promise<DataOperations['compareBucketReplication']['answer']> {
    return this.run('compareBucketReplication', input, options)
  }

  /** List objects by key */
  listObjects(input: ListObjectsInput, options?: MethodOptions): Promise<DataOperations['listObjects']['answer']> {
    return this.run('listObjects', input, options)
  }

  /** Store an object */
  putObject(input: PutObjectInput, options?: MethodOptions): Promise<DataOperations['putObject']['answer']> {
    return this.run('putObject', input, options)
  }

  /** Read an object, or one range of it */
  getObject(input: GetObjectInput, options?: MethodOptions): Promise<ObjectDownload> {
    return this.run('getObject', input, options)
  }

  /** Read what is known of an object, as headers */
  headObject(input: HeadObjectInput, options?: MethodOptions): Promise<ObjectHead> {
    return this.run('headObject', input, options)
  }

  /** Delete an object; a key that does not exist is no error */
  deleteObject(input: DeleteObjectInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteObject', input, options)
  }

  /** Delete up to 1,000 objects or versions */
  batchDeleteObjects(input: BatchDeleteObjectsInput, options?: MethodOptions): Promise<DataOperations['batchDeleteObjects']['answer']> {
    return this.run('batchDeleteObjects', input, options)
  }

  /** Copy an object to this key */
  copyObject(input: CopyObjectInput, options?: MethodOptions): Promise<DataOperations['copyObject']['answer']> {
    return this.run('copyObject', input, options)
  }

  /** List versions and delete markers by key, the newest of a key first */
  listObjectVersions(input: ListObjectVersionsInput, options?: MethodOptions): Promise<DataOperations['listObjectVersions']['answer']> {
    return this.run('listObjectVersions', input, options)
  }

  /** Get the tags of an object */
  getObjectTags(input: GetObjectTagsInput, options?: MethodOptions): Promise<DataOperations['getObjectTags']['answer']> {
    return this.run('getObjectTags', input, options)
  }

  /** Replace the tags of an object */
  setObjectTags(input: SetObjectTagsInput, options?: MethodOptions): Promise<DataOperations['setObjectTags']['answer']> {
    return this.run('setObjectTags', input, options)
  }

  /** Remove all tags of an object */
  deleteObjectTags(input: DeleteObjectTagsInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteObjectTags', input, options)
  }

  /** Get the retention of an object; 404 when it was never set */
  getObjectRetention(input: GetObjectRetentionInput, options?: MethodOptions): Promise<DataOperations['getObjectRetention']['answer']> {
    return this.run('getObjectRetention', input, options)
  }

  /** Set or extend the retention of an object */
  setObjectRetention(input: SetObjectRetentionInput, options?: MethodOptions): Promise<DataOperations['setObjectRetention']['answer']> {
    return this.run('setObjectRetention', input, options)
  }

  /** Get the legal hold of an object; OFF when it was never set */
  getObjectLegalHold(input: GetObjectLegalHoldInput, options?: MethodOptions): Promise<DataOperations['getObjectLegalHold']['answer']> {
    return this.run('getObjectLegalHold', input, options)
  }

  /** Hold an object, or let it go */
  setObjectLegalHold(input: SetObjectLegalHoldInput, options?: MethodOptions): Promise<DataOperations['setObjectLegalHold']['answer']> {
    return this.run('setObjectLegalHold', input, options)
  }

  /** Begin a multipart upload */
  createMultipartUpload(input: CreateMultipartUploadInput, options?: MethodOptions): Promise<DataOperations['createMultipartUpload']['answer']> {
    return this.run('createMultipartUpload', input, options)
  }

  /** Assemble the parts of an upload into the object */
  completeMultipartUpload(input: CompleteMultipartUploadInput, options?: MethodOptions): Promise<DataOperations['completeMultipartUpload']['answer']> {
    return this.run('completeMultipartUpload', input, options)
  }

  /** Give an upload up; one that does not exist is no error */
  abortMultipartUpload(input: AbortMultipartUploadInput, options?: MethodOptions): Promise<void> {
    return this.run('abortMultipartUpload', input, options)
  }

  /** List the uploads under way */
  listMultipartUploads(input: ListMultipartUploadsInput, options?: MethodOptions): Promise<DataOperations['listMultipartUploads']['answer']> {
    return this.run('listMultipartUploads', input, options)
  }

  /** Upload a part */
  uploadPart(input: UploadPartInput, options?: MethodOptions): Promise<DataOperations['uploadPart']['answer']> {
    return this.run('uploadPart', input, options)
  }

  /** List the parts of an upload, with their checksums */
  listParts(input: ListPartsInput, options?: MethodOptions): Promise<DataOperations['listParts']['answer']> {
    return this.run('listParts', input, options)
  }

  /** Get the notification configs of a bucket; none is an empty list */
  getBucketNotifications(input: GetBucketNotificationsInput, options?: MethodOptions): Promise<DataOperations['getBucketNotifications']['answer']> {
    return this.run('getBucketNotifications', input, options)
  }

  /** Replace the notification configs of a bucket */
  setBucketNotifications(input: SetBucketNotificationsInput, options?: MethodOptions): Promise<DataOperations['setBucketNotifications']['answer']> {
    return this.run('setBucketNotifications', input, options)
  }

  /** Clear the notification configs of a bucket */
  deleteBucketNotifications(input: DeleteBucketNotificationsInput, options?: MethodOptions): Promise<void> {
    return this.run('deleteBucketNotifications', input, options)
  }

  /** List what was sent, what waits and what was given up, the newest event first */
  listNotificationDeliveries(input: ListNotificationDeliveriesInput, options?: MethodOptions): Promise<DataOperations['listNotificationDeliveries']['answer']> {
    return this.run('listNotificationDeliveries', input, options)
  }

  /** Deliver once more, at once, whatever became of it */
  redeliverNotification(input: RedeliverNotificationInput, options?: MethodOptions): Promise<DataOperations['redeliverNotification']['answer']> {
    return this.run('redeliverNotification', input, options)
  }

  /** Send an event of type test to one config */
  testNotification(input: TestNotificationInput, options?: MethodOptions): Promise<DataOperations['testNotification']['answer']> {
    return this.run('testNotification', input, options)
  }

  /** Each of all pages of listBuckets */
  buckets(input?: ListBucketsInput, options?: MethodOptions): AsyncGenerator<DataOperations['listBuckets']['answer']['buckets'][number], void, undefined> {
    return this.each('listBuckets', input, options)
  }

  /** Each of all pages of listObjects */
  objects(input: ListObjectsInput, options?: MethodOptions): AsyncGenerator<DataOperations['listObjects']['answer']['objects'][number], void, undefined> {
    return this.each('listObjects', input, options)
  }

  /** Each of all pages of listObjectVersions */
  versions(input: ListObjectVersionsInput, options?: MethodOptions): AsyncGenerator<DataOperations['listObjectVersions']['answer']['versions'][number], void, undefined> {
    return this.each('listObjectVersions', input, options)
  }

  /** Each of all pages of listMultipartUploads */
  uploads(input: ListMultipartUploadsInput, options?: MethodOptions): AsyncGenerator<DataOperations['listMultipartUploads']['answer']['uploads'][number], void, undefined> {
    return this.each('listMultipartUploads', input, options)
  }

  /** Each of all pages of listParts */
  parts(input: ListPartsInput, options?: MethodOptions): AsyncGenerator<DataOperations['listParts']['answer']['parts'][number], void, undefined> {
    return this.each('listParts', input, options)
  }

  /** Each of all pages of listNotificationDeliveries */
  deliveries(input: ListNotificationDeliveriesInput, options?: MethodOptions): AsyncGenerator<DataOperations['listNotificationDeliveries']['answer']['deliveries'][number], void, undefined> {
    return this.each('listNotificationDeliveries', input, options)
  }
}
