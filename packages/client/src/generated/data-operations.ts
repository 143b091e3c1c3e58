/**
 * The operations of the data plane as docs/openapi/data.json has them. Made by `node scripts/pages/client-types.ts`.
 */
import type { Body, Download, Route } from '../call/operation.ts'

export type Bucket = { readonly name: string; readonly tenantId: string; readonly createdAt: string; readonly versioning: "Unversioned" | "Enabled" | "Suspended"; readonly objectLockEnabled: boolean; readonly defaultRetention: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days?: number; /** of 365 days each */ readonly years?: number } | null; readonly visibility: "private"; readonly hasCors: boolean; readonly hasNotifications: boolean }

export type StoredObject = { readonly bucket: string; readonly key: string; readonly versionId: string; readonly isLatest: boolean; readonly size: number; readonly contentLength: number; readonly etag: string; readonly contentType: string; readonly lastModified: string; readonly storageClass: string; readonly checksums: Readonly<Record<string, string>>; readonly checksumType: "FULL_OBJECT"; readonly compositeChecksum?: { readonly algorithm: string; readonly checksum: string }; readonly encryption: { readonly status: "encrypted"; readonly algorithm: "AES256-GCM"; readonly keyId: string }; readonly compression: { readonly status: "none" | "zstd" }; readonly retention: Retention | null; readonly legalHold: LegalHold; readonly metadata: Readonly<Record<string, string>>; readonly cacheControl?: string; readonly contentDisposition?: string; readonly contentEncoding?: string; readonly contentLanguage?: string; readonly expires?: string; readonly tagCount: number; readonly partsCount: number }

export type ListedObject = { readonly key: string; readonly size: number; readonly etag: string; readonly lastModified: string; readonly storageClass: string; readonly versionId: string; readonly metadata?: Readonly<Record<string, string>> }

export type Upload = { readonly bucket: string; readonly key: string; readonly uploadId: string; readonly createdAt: string; readonly expiresAt: string }

export type ListedUpload = { readonly key: string; readonly uploadId: string; readonly createdAt: string; readonly expiresAt: string; readonly initiator: string }

export type Part = { readonly partNumber: number; readonly etag: string; readonly size: number; readonly checksums: Readonly<Record<string, string>> }

export type ListedPart = { readonly partNumber: number; readonly etag: string; readonly size: number; readonly checksums: Readonly<Record<string, string>>; readonly lastModified: string }

export type Retention = { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly retainUntil: string }

export type LegalHold = { readonly status: "ON" | "OFF" }

export interface DataOperations {
  /** The process answers */
  readonly healthz: {
    readonly call: object
    readonly answer: { readonly status: "ok" }
  }
  /** The node can serve requests, or says what is missing */
  readonly readyz: {
    readonly call: object
    readonly answer: { readonly status: "ready" }
  }
  /** This contract as an OpenAPI 3.1 document */
  readonly getOpenAPI: {
    readonly call: { readonly headers?: { /** The ETag of a copy that the client has */ readonly "If-None-Match"?: string; /** br and gzip are known */ readonly "Accept-Encoding"?: string } }
    readonly answer: Readonly<Record<string, unknown>>
  }
  /** Exchange an access key for a short-lived bearer token */
  readonly createToken: {
    readonly call: { readonly body?: { readonly accessKeyId?: string; readonly secretKey?: string } }
    readonly answer: { readonly token: string; readonly tokenType: "Bearer"; /** Seconds */ readonly expiresIn: number; readonly expiresAt: string; readonly accessKeyId: string; readonly tenantId: string }
  }
  /** Make a temporary credential that may do less than the access key */
  readonly createTemporaryToken: {
    readonly call: { readonly body: { /** Letters, digits and _+=,.@-; recorded with each request */ readonly sessionName: string; /** Within those of the key; all of them unless given */ readonly scopes?: string; /** 3600 unless said otherwise */ readonly ttlSeconds?: number } }
    readonly answer: { readonly token: string; readonly tokenType: "Bearer"; /** Seconds */ readonly expiresIn: number; readonly expiresAt: string; readonly accessKeyId: string; readonly tenantId: string; readonly sessionName: string; readonly scopes: string }
  }
  /** Make a URL that opens one object to its holder */
  readonly signURL: {
    readonly call: { readonly body: { readonly method: "GET" | "PUT"; readonly bucket: string; readonly key?: string; /** PUT only; the uploader chooses the rest */ readonly keyPrefix?: string; /** 900 unless said otherwise */ readonly ttlSeconds?: number; /** PUT only; stored whatever the upload says */ readonly contentType?: string; /** PUT only */ readonly contentLengthMax?: number; /** PUT only; needs checksumVal */ readonly checksumAlg?: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256"; /** PUT only, base64; needs checksumAlg */ readonly checksumVal?: string; /** PUT only */ readonly idempotencyKey?: string; /** GET only */ readonly responseContentType?: string; /** GET only */ readonly responseContentDisposition?: string; readonly reason?: string } }
    readonly answer: { readonly url: string; readonly token: string; readonly method: "GET" | "PUT"; readonly bucket: string; readonly key: string | null; readonly keyPrefix: string | null; readonly urlTemplate: string | null; readonly expiresAt: string; /** After clamping */ readonly ttlSeconds: number; /** To send with the upload */ readonly requiredHeaders: Readonly<Record<string, string>>; readonly contentLengthMax: number | null }
  }
  /** Read an object by a signed URL */
  readonly getSigned: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query: { readonly token: string }; readonly headers?: { /** One range of bytes, such as bytes=0-99, bytes=100- or bytes=-100 */ readonly Range?: string; /** Ignore Range unless this etag or date still holds */ readonly "If-Range"?: string; /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string; /** Answer 304 when the etag is one of these */ readonly "If-None-Match"?: string; /** Answer 304 when not stored since */ readonly "If-Modified-Since"?: string; /** Answer 412 when stored since */ readonly "If-Unmodified-Since"?: string } }
    readonly answer: Download
  }
  /** Store an object by a signed URL */
  readonly putSigned: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query: { readonly token: string }; readonly headers?: { readonly "Content-Type"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32C"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC64NVME"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA1"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA256"?: string; /** base64 MD5 of the body to verify, as in RFC 1864; it is not kept */ readonly "Content-MD5"?: string; /** Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64: */ readonly "Content-Digest"?: string; /** The same */ readonly "Repr-Digest"?: string; readonly [name: `X-Service-Meta-${string}`]: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Cache-Control"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Disposition"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Encoding"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Language"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly Expires?: string; /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string; /** Answer 412 when the etag is one of these; *: when there is an object */ readonly "If-None-Match"?: string; /** 1 to 255 printable ASCII characters */ readonly "Idempotency-Key"?: string }; readonly body: Body }
    readonly answer: StoredObject
  }
  /** List the buckets of the tenant */
  readonly listBuckets: {
    readonly call: { readonly query?: { readonly prefix?: string; readonly maxBuckets?: number; /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string } }
    readonly answer: { readonly buckets: readonly (Bucket)[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Create a private bucket */
  readonly createBucket: {
    readonly call: { readonly body: { readonly name: string; /** Unversioned, Enabled, Suspended */ readonly versioning?: string; readonly objectLockEnabled?: boolean } }
    readonly answer: Bucket
  }
  /** Get a bucket */
  readonly getBucket: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: Bucket
  }
  /** Delete an empty bucket */
  readonly deleteBucket: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: undefined
  }
  /** Get the state of versioning */
  readonly getBucketVersioning: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly status: "Unversioned" | "Enabled" | "Suspended" }
  }
  /** Keep versions from now on, or stop to */
  readonly setBucketVersioning: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { /** Enabled or Suspended */ readonly status: string } }
    readonly answer: { readonly status: "Unversioned" | "Enabled" | "Suspended" }
  }
  /** Get whether a bucket has object lock, and its default retention */
  readonly getBucketObjectLock: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly objectLockEnabled: boolean; readonly defaultRetention: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days?: number; /** of 365 days each */ readonly years?: number } | null }
  }
  /** Switch object lock on for good, and set the default retention */
  readonly setBucketObjectLock: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly defaultRetention?: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days?: number; /** of 365 days each */ readonly years?: number } | null } }
    readonly answer: { readonly objectLockEnabled: boolean; readonly defaultRetention: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days?: number; /** of 365 days each */ readonly years?: number } | null }
  }
  /** Get the CORS rules of a bucket */
  readonly getBucketCORS: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly rules: readonly ({ readonly id?: string; readonly allowedOrigins: readonly (string)[]; readonly allowedMethods: readonly ("GET" | "HEAD" | "PUT" | "POST" | "DELETE")[]; readonly allowedHeaders?: readonly (string)[]; readonly exposeHeaders?: readonly (string)[]; readonly maxAgeSeconds?: number })[] }
  }
  /** Replace the CORS rules of a bucket */
  readonly setBucketCORS: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly rules: readonly ({ readonly id?: string; readonly allowedOrigins: readonly (string)[]; readonly allowedMethods: readonly ("GET" | "HEAD" | "PUT" | "POST" | "DELETE")[]; readonly allowedHeaders?: readonly (string)[]; readonly exposeHeaders?: readonly (string)[]; readonly maxAgeSeconds?: number })[] } }
    readonly answer: { readonly rules: readonly ({ readonly id?: string; readonly allowedOrigins: readonly (string)[]; readonly allowedMethods: readonly ("GET" | "HEAD" | "PUT" | "POST" | "DELETE")[]; readonly allowedHeaders?: readonly (string)[]; readonly exposeHeaders?: readonly (string)[]; readonly maxAgeSeconds?: number })[] }
  }
  /** Remove the CORS rules of a bucket; that there were none is no error */
  readonly deleteBucketCORS: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: undefined
  }
  /** Get the lifecycle rules of a bucket */
  readonly getBucketLifecycle: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly rules: readonly ({ readonly id?: string; readonly status: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly sizeGreaterThan?: number; readonly sizeLessThan?: number }; /** One of the three. A delete marker under which no version is left goes by the third, and by days */ readonly expiration?: { readonly days?: number; /** A midnight in UTC */ readonly date?: string; readonly expiredObjectDeleteMarker?: boolean }; readonly noncurrentVersionExpiration?: { readonly noncurrentDays: number; readonly newerNoncurrentVersions?: number }; readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number } })[] }
  }
  /** Replace the lifecycle rules of a bucket */
  readonly setBucketLifecycle: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly rules: readonly ({ readonly id?: string; readonly status: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly sizeGreaterThan?: number; readonly sizeLessThan?: number }; /** One of the three. A delete marker under which no version is left goes by the third, and by days */ readonly expiration?: { readonly days?: number; /** A midnight in UTC */ readonly date?: string; readonly expiredObjectDeleteMarker?: boolean }; readonly noncurrentVersionExpiration?: { readonly noncurrentDays: number; readonly newerNoncurrentVersions?: number }; readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number } })[] } }
    readonly answer: { readonly rules: readonly ({ readonly id?: string; readonly status: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly sizeGreaterThan?: number; readonly sizeLessThan?: number }; /** One of the three. A delete marker under which no version is left goes by the third, and by days */ readonly expiration?: { readonly days?: number; /** A midnight in UTC */ readonly date?: string; readonly expiredObjectDeleteMarker?: boolean }; readonly noncurrentVersionExpiration?: { readonly noncurrentDays: number; readonly newerNoncurrentVersions?: number }; readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number } })[] }
  }
  /** Remove the lifecycle rules of a bucket; that there were none is no error */
  readonly deleteBucketLifecycle: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: undefined
  }
  /** Show what lifecycle rules would do now */
  readonly previewBucketLifecycle: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly rules?: readonly ({ readonly id?: string; readonly status: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly sizeGreaterThan?: number; readonly sizeLessThan?: number }; /** One of the three. A delete marker under which no version is left goes by the third, and by days */ readonly expiration?: { readonly days?: number; /** A midnight in UTC */ readonly date?: string; readonly expiredObjectDeleteMarker?: boolean }; readonly noncurrentVersionExpiration?: { readonly noncurrentDays: number; readonly newerNoncurrentVersions?: number }; readonly abortIncompleteMultipartUpload?: { readonly daysAfterInitiation: number } })[]; readonly limit?: number; /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string } }
    readonly answer: { readonly judgedAt: string; /** Versions, delete markers and uploads that were looked at */ readonly rows: number; readonly counts: { /** Objects that are removed */ readonly expired: number; /** Objects that get a delete marker */ readonly hidden: number; /** Noncurrent versions that are removed */ readonly noncurrent: number; /** Delete markers that are removed */ readonly marker: number; /** Uploads that are aborted */ readonly upload: number }; /** Bytes that would count no more */ readonly bytes: number; /** Versions that a rule names and a lock keeps; not in the counts */ readonly locked: number; readonly items: readonly ({ readonly kind: "expired" | "hidden" | "noncurrent" | "marker" | "upload"; readonly ruleId: string; readonly key: string; readonly versionId?: string; readonly uploadId?: string; readonly bytes: number; /** Why it stays */ readonly lockedBy?: string })[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Get the replication of a bucket */
  readonly getBucketReplication: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly target: { /** Address of the store, without a bucket */ readonly endpoint: string; readonly bucket: string; /** Usually us-east-1 */ readonly region?: string; /** The bucket is part of the name of the host */ readonly virtualHost?: boolean; readonly accessKeyId: string }; readonly rules: readonly ({ readonly id?: string; readonly status?: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>> }; /** Which deletions go there: none; markers, which name no version; all, also of versions by their id. Usually markers, and none of a rule with tags */ readonly deletes?: "none" | "markers" | "all" })[]; readonly updatedAt: string }
  }
  /** Replicate a bucket to another Holdfast or S3 store */
  readonly setBucketReplication: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly target: { /** Address of the store, without a bucket */ readonly endpoint: string; readonly bucket: string; /** Usually us-east-1 */ readonly region?: string; /** The bucket is part of the name of the host */ readonly virtualHost?: boolean; readonly accessKeyId: string; /** Never shown again. Absent: the present one stays, with endpoint and accessKeyId */ readonly secretKey?: string }; readonly rules?: readonly ({ readonly id?: string; readonly status?: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>> }; /** Which deletions go there: none; markers, which name no version; all, also of versions by their id. Usually markers, and none of a rule with tags */ readonly deletes?: "none" | "markers" | "all" })[]; /** Send what the bucket holds already too */ readonly existing?: boolean } }
    readonly answer: { readonly target: { /** Address of the store, without a bucket */ readonly endpoint: string; readonly bucket: string; /** Usually us-east-1 */ readonly region?: string; /** The bucket is part of the name of the host */ readonly virtualHost?: boolean; readonly accessKeyId: string }; readonly rules: readonly ({ readonly id?: string; readonly status?: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>> }; /** Which deletions go there: none; markers, which name no version; all, also of versions by their id. Usually markers, and none of a rule with tags */ readonly deletes?: "none" | "markers" | "all" })[]; readonly updatedAt: string }
  }
  /** End the replication of a bucket; that there was none is no error */
  readonly deleteBucketReplication: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: undefined
  }
  /** Show what of a bucket is not at its other site yet */
  readonly getReplicationStatus: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { /** Changes that are acknowledged here and not there yet */ readonly pending: number; /** Bytes of their versions */ readonly pendingBytes: number; /** Age of the oldest of them, by the time of the cluster */ readonly lagSeconds: number; readonly oldestAt: string | null; /** Changes that were given up */ readonly failed: number; /** Changes that are there */ readonly sent: number; /** Bytes of their versions */ readonly sentBytes: number; /** Changes that were not needed there any more */ readonly skipped: number; /** Changes that lost against a later one at the target */ readonly conflicts: number; /** Changes that no row was made of because too many waited; a resync finds the versions */ readonly dropped: number; readonly unreachableSince: string | null; readonly nextAttemptAt: string | null; readonly lastError: string | null; readonly lastSentAt: string | null; readonly resync: { readonly startedAt: string; readonly endedAt: string | null; /** Versions that it has queued */ readonly queued: number } | null; /** The first 100 of the failed */ readonly failures: readonly ({ readonly kind: "put" | "tags" | "lock" | "delete" | "remove"; readonly key: string; readonly versionId: string; readonly time: string; readonly attempts: number; readonly error: string | null })[] }
  }
  /** Queue what a bucket holds for its other site */
  readonly resyncBucketReplication: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly startedAt: string; readonly endedAt: string | null; /** Versions that it has queued */ readonly queued: number }
  }
  /** Send changes again that were given up */
  readonly retryBucketReplication: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly retried: number }
  }
  /** Compare a bucket with its other site */
  readonly compareBucketReplication: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string } }
    readonly answer: { /** Keys of either side */ readonly compared: number; readonly differences: readonly ({ readonly key: string; /** missing: only here. extra: only there. different: other bytes. waiting: one of these, and a change of the key waits to be sent */ readonly difference: "missing" | "extra" | "different" | "waiting" })[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** List objects by key */
  readonly listObjects: {
    readonly call: { readonly params: { readonly bucket: string }; readonly query?: { readonly prefix?: string; readonly delimiter?: string; readonly maxKeys?: number; /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string; readonly startAfter?: string; readonly include?: "metadata" } }
    readonly answer: { readonly bucket: string; readonly prefix: string; readonly delimiter: string; readonly maxKeys: number; readonly keyCount: number; readonly objects: readonly (ListedObject)[]; readonly commonPrefixes: readonly (string)[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Store an object */
  readonly putObject: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly headers?: { readonly "Content-Type"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32C"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC64NVME"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA1"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA256"?: string; /** base64 MD5 of the body to verify, as in RFC 1864; it is not kept */ readonly "Content-MD5"?: string; /** Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64: */ readonly "Content-Digest"?: string; /** The same */ readonly "Repr-Digest"?: string; readonly [name: `X-Service-Meta-${string}`]: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Cache-Control"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Disposition"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Encoding"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Language"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly Expires?: string; /** Tags, written like a query: env=prod&team=web */ readonly "X-Service-Tagging"?: string; /** GOVERNANCE or COMPLIANCE; needs X-Service-Retain-Until */ readonly "X-Service-Retention-Mode"?: "GOVERNANCE" | "COMPLIANCE"; /** RFC 3339; needs X-Service-Retention-Mode */ readonly "X-Service-Retain-Until"?: string; /** ON or OFF */ readonly "X-Service-Legal-Hold"?: "ON" | "OFF"; /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string; /** Answer 412 when the etag is one of these; *: when there is an object */ readonly "If-None-Match"?: string; /** 1 to 255 printable ASCII characters */ readonly "Idempotency-Key"?: string; /** Another name of the same header */ readonly "X-Service-Idempotency-Key"?: string }; readonly body: Body }
    readonly answer: StoredObject
  }
  /** Read an object, or one range of it */
  readonly getObject: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string }; readonly headers?: { /** One range of bytes, such as bytes=0-99, bytes=100- or bytes=-100 */ readonly Range?: string; /** Ignore Range unless this etag or date still holds */ readonly "If-Range"?: string; /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string; /** Answer 304 when the etag is one of these */ readonly "If-None-Match"?: string; /** Answer 304 when not stored since */ readonly "If-Modified-Since"?: string; /** Answer 412 when stored since */ readonly "If-Unmodified-Since"?: string } }
    readonly answer: Download
  }
  /** Read what is known of an object, as headers */
  readonly headObject: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string }; readonly headers?: { /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string; /** Answer 304 when the etag is one of these */ readonly "If-None-Match"?: string; /** Answer 304 when not stored since */ readonly "If-Modified-Since"?: string; /** Answer 412 when stored since */ readonly "If-Unmodified-Since"?: string } }
    readonly answer: undefined
  }
  /** Delete an object; a key that does not exist is no error */
  readonly deleteObject: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string }; readonly headers?: { /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string } }
    readonly answer: undefined
  }
  /** Delete up to 1,000 objects or versions */
  readonly batchDeleteObjects: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly objects: readonly ({ /** What is no key fails by itself */ readonly key: string; readonly versionId?: string })[]; readonly quiet?: boolean } }
    readonly answer: { readonly results: readonly ({ readonly key: string; readonly versionId?: string; readonly deleted: boolean; readonly status: number; readonly deleteMarker?: boolean; readonly deleteMarkerVersionId?: string; readonly error?: { readonly code: "invalid_request" | "invalid_json" | "invalid_bucket_name" | "invalid_key" | "invalid_argument" | "invalid_continuation_token" | "invalid_tag" | "invalid_part" | "invalid_part_order" | "entity_too_small" | "too_many_keys" | "checksum_required" | "checksum_malformed" | "checksum_unsupported" | "checksum_mismatch" | "invalid_event_type" | "object_lock_not_enabled" | "reason_required" | "confirm_mismatch" | "unauthorized" | "invalid_credentials" | "token_invalid" | "token_expired" | "key_revoked" | "tenant_disabled" | "invalid_signed_url" | "signed_url_expired" | "access_denied" | "object_locked" | "signed_url_mismatch" | "tenant_scope_denied" | "not_found" | "method_not_allowed" | "request_timeout" | "bucket_already_exists" | "bucket_not_empty" | "invalid_bucket_state" | "idempotency_conflict" | "idempotency_in_progress" | "already_exists" | "membership_change_in_progress" | "stale_config_index" | "member_exists" | "address_in_use" | "member_tombstoned" | "foreign_cluster" | "data_not_empty" | "length_required" | "precondition_failed" | "entity_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "target_refused" | "rate_limited" | "internal_error" | "unsupported_target" | "not_implemented" | "no_leader" | "no_quorum" | "leader_not_ready" | "commit_unknown" | "not_enough_replicas" | "slow_down" | "disk_full" | "shutting_down" | "quota_exceeded" | "insufficient_storage"; readonly message: string } })[]; readonly deletedCount: number; readonly errorCount: number }
  }
  /** Copy an object to this key */
  readonly copyObject: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly body: { readonly sourceBucket: string; readonly sourceKey: string; readonly sourceVersionId?: string; /** COPY (as if not given) or REPLACE */ readonly metadataDirective?: "COPY" | "REPLACE"; readonly contentType?: string; /** Names and values as headers carry them, 2 KiB in all */ readonly metadata?: Readonly<Record<string, string>>; readonly cacheControl?: string; readonly contentDisposition?: string; readonly contentEncoding?: string; readonly contentLanguage?: string; readonly expires?: string; readonly ifMatch?: string; readonly ifNoneMatch?: string; readonly ifModifiedSince?: string; readonly ifUnmodifiedSince?: string; readonly requireAbsent?: boolean; readonly requireMatchEtag?: string } }
    readonly answer: StoredObject
  }
  /** List versions and delete markers by key, the newest of a key first */
  readonly listObjectVersions: {
    readonly call: { readonly params: { readonly bucket: string }; readonly query?: { readonly prefix?: string; readonly delimiter?: string; readonly maxKeys?: number; readonly keyMarker?: string; readonly versionIdMarker?: string } }
    readonly answer: { readonly bucket: string; readonly prefix: string; readonly delimiter: string; readonly maxKeys: number; readonly isTruncated: boolean; readonly nextKeyMarker?: string; readonly nextVersionIdMarker?: string; readonly versions: readonly ({ readonly key: string; readonly versionId: string; readonly isLatest: boolean; readonly isDeleteMarker: boolean; readonly lastModified: string; readonly size?: number; readonly etag?: string; readonly storageClass?: string })[]; readonly commonPrefixes: readonly (string)[] }
  }
  /** Get the tags of an object */
  readonly getObjectTags: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string } }
    readonly answer: { /** At most 10; values of at most 256 characters */ readonly tags: Readonly<Record<string, string>> }
  }
  /** Replace the tags of an object */
  readonly setObjectTags: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string }; readonly body: { /** At most 10; values of at most 256 characters */ readonly tags: Readonly<Record<string, string>> } }
    readonly answer: { /** At most 10; values of at most 256 characters */ readonly tags: Readonly<Record<string, string>> }
  }
  /** Remove all tags of an object */
  readonly deleteObjectTags: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string } }
    readonly answer: undefined
  }
  /** Get the retention of an object; 404 when it was never set */
  readonly getObjectRetention: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string } }
    readonly answer: Retention
  }
  /** Set or extend the retention of an object */
  readonly setObjectRetention: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string }; readonly body: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; /** RFC 3339, with any offset */ readonly retainUntil: string } }
    readonly answer: Retention
  }
  /** Get the legal hold of an object; OFF when it was never set */
  readonly getObjectLegalHold: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string } }
    readonly answer: LegalHold
  }
  /** Hold an object, or let it go */
  readonly setObjectLegalHold: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly versionId?: string }; readonly body: LegalHold }
    readonly answer: LegalHold
  }
  /** Begin a multipart upload */
  readonly createMultipartUpload: {
    readonly call: { readonly params: { readonly bucket: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly headers?: { readonly [name: `X-Service-Meta-${string}`]: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Cache-Control"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Disposition"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Encoding"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly "Content-Language"?: string; /** Stored with the object, and given back with its bytes; 2 KiB together */ readonly Expires?: string; /** Computed of every part: CRC32, CRC32C, CRC64NVME, SHA1, SHA256 */ readonly "X-Service-Checksum-Algorithm"?: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256"; /** Tags, written like a query: env=prod&team=web */ readonly "X-Service-Tagging"?: string; /** GOVERNANCE or COMPLIANCE; needs X-Service-Retain-Until */ readonly "X-Service-Retention-Mode"?: "GOVERNANCE" | "COMPLIANCE"; /** RFC 3339; needs X-Service-Retention-Mode */ readonly "X-Service-Retain-Until"?: string; /** ON or OFF */ readonly "X-Service-Legal-Hold"?: "ON" | "OFF" }; readonly body?: { readonly contentType?: string; /** Names and values as headers carry them, 2 KiB in all */ readonly metadata?: Readonly<Record<string, string>>; readonly cacheControl?: string; readonly contentDisposition?: string; readonly contentEncoding?: string; readonly contentLanguage?: string; readonly expires?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>>; readonly retention?: Retention; readonly legalHold?: LegalHold; readonly checksumAlg?: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256" } }
    readonly answer: Upload
  }
  /** Assemble the parts of an upload into the object */
  readonly completeMultipartUpload: {
    readonly call: { readonly params: { readonly bucket: string; readonly uploadId: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly headers?: { /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32C"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC64NVME"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA1"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA256"?: string; /** Answer 412 unless the etag is one of these */ readonly "If-Match"?: string; /** Answer 412 when the etag is one of these; *: when there is an object */ readonly "If-None-Match"?: string }; readonly body: { readonly parts: readonly ({ readonly partNumber: number; readonly etag: string })[] } }
    readonly answer: StoredObject
  }
  /** Give an upload up; one that does not exist is no error */
  readonly abortMultipartUpload: {
    readonly call: { readonly params: { readonly bucket: string; readonly uploadId: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string } }
    readonly answer: undefined
  }
  /** List the uploads under way */
  readonly listMultipartUploads: {
    readonly call: { readonly params: { readonly bucket: string }; readonly query?: { readonly prefix?: string; readonly keyMarker?: string; readonly uploadIdMarker?: string; readonly maxUploads?: number } }
    readonly answer: { readonly uploads: readonly (ListedUpload)[]; readonly keyMarker: string; readonly uploadIdMarker: string; readonly maxUploads: number; readonly isTruncated: boolean; readonly nextKeyMarker?: string; readonly nextUploadIdMarker?: string }
  }
  /** Upload a part */
  readonly uploadPart: {
    readonly call: { readonly params: { readonly bucket: string; readonly uploadId: string; readonly partNumber: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly headers?: { readonly "Content-Type"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC32C"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-CRC64NVME"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA1"?: string; /** base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 */ readonly "X-Service-Checksum-SHA256"?: string; /** base64 MD5 of the body to verify, as in RFC 1864; it is not kept */ readonly "Content-MD5"?: string; /** Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64: */ readonly "Content-Digest"?: string; /** The same */ readonly "Repr-Digest"?: string }; readonly body: Body }
    readonly answer: Part
  }
  /** List the parts of an upload, with their checksums */
  readonly listParts: {
    readonly call: { readonly params: { readonly bucket: string; readonly uploadId: string; /** The rest of the path: a slash in it may be sent as it is, or as %2F */ readonly key: string }; readonly query?: { readonly maxParts?: number; readonly partNumberMarker?: number } }
    readonly answer: { readonly uploadId: string; readonly key: string; readonly parts: readonly (ListedPart)[]; readonly maxParts: number; readonly partNumberMarker: number; readonly isTruncated: boolean; readonly nextPartNumberMarker?: number }
  }
  /** Get the notification configs of a bucket; none is an empty list */
  readonly getBucketNotifications: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: { readonly configs: readonly ({ readonly id: string; readonly kind: "webhook"; /** Only its origin for keys that may not write in the whole bucket */ readonly url: string; readonly events: readonly ("object-created" | "object-removed" | "object-tagged" | "object-lock-changed")[]; readonly prefix: string; readonly suffix: string; readonly enabled: boolean; readonly payloadFormat: "native" | "s3"; /** Once, of a new config: keep it */ readonly signingSecret?: string; /** Instead of the secret, of every other */ readonly hasSecret?: boolean; readonly suspended: boolean; readonly suspensionReason: string; readonly createdAt: string; readonly updatedAt: string; readonly pendingCount: number; readonly deadCount: number; /** Events for which there was no room */ readonly droppedCount: number; readonly droppedAt: string | null })[] }
  }
  /** Replace the notification configs of a bucket */
  readonly setBucketNotifications: {
    readonly call: { readonly params: { readonly bucket: string }; readonly body: { readonly configs: readonly ({ /** 1 to 64 letters, digits, ".", "_", "-"; made when absent */ readonly id?: string; readonly kind?: "webhook"; /** https, and http only where an operator allows it */ readonly url: string; readonly events: readonly ("object-created" | "object-removed" | "object-tagged" | "object-lock-changed")[]; /** Of the key; at most 1,024 bytes */ readonly prefix?: string; /** Of the key; at most 1,024 bytes */ readonly suffix?: string; readonly enabled?: boolean; readonly payloadFormat?: "native" | "s3" })[] } }
    readonly answer: { readonly configs: readonly ({ readonly id: string; readonly kind: "webhook"; /** Only its origin for keys that may not write in the whole bucket */ readonly url: string; readonly events: readonly ("object-created" | "object-removed" | "object-tagged" | "object-lock-changed")[]; readonly prefix: string; readonly suffix: string; readonly enabled: boolean; readonly payloadFormat: "native" | "s3"; /** Once, of a new config: keep it */ readonly signingSecret?: string; /** Instead of the secret, of every other */ readonly hasSecret?: boolean; readonly suspended: boolean; readonly suspensionReason: string; readonly createdAt: string; readonly updatedAt: string; readonly pendingCount: number; readonly deadCount: number; /** Events for which there was no room */ readonly droppedCount: number; readonly droppedAt: string | null })[] }
  }
  /** Clear the notification configs of a bucket */
  readonly deleteBucketNotifications: {
    readonly call: { readonly params: { readonly bucket: string } }
    readonly answer: undefined
  }
  /** List what was sent, what waits and what was given up, the newest event first */
  readonly listNotificationDeliveries: {
    readonly call: { readonly params: { readonly bucket: string }; readonly query?: { readonly configId?: string; readonly status?: "pending" | "delivered" | "dead"; readonly maxDeliveries?: number; /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string } }
    readonly answer: { readonly deliveries: readonly ({ /** The webhook-id of every attempt */ readonly deliveryId: string; readonly configId: string; readonly type: "object-created" | "object-removed" | "object-tagged" | "object-lock-changed" | "test"; readonly eventName: string; readonly eventTime: string; readonly key: string | null; readonly versionId: string | null; readonly status: "pending" | "delivered" | "dead"; readonly attempts: number; readonly nextAttemptAt: string | null; readonly settledAt: string | null; readonly lastAttempt: { readonly at: string; readonly status: number | null; readonly error: string | null; readonly durationMs: number } | null })[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Deliver once more, at once, whatever became of it */
  readonly redeliverNotification: {
    readonly call: { readonly params: { readonly bucket: string; readonly deliveryId: string } }
    readonly answer: { /** The webhook-id of every attempt */ readonly deliveryId: string; readonly configId: string; readonly type: "object-created" | "object-removed" | "object-tagged" | "object-lock-changed" | "test"; readonly eventName: string; readonly eventTime: string; readonly key: string | null; readonly versionId: string | null; readonly status: "pending" | "delivered" | "dead"; readonly attempts: number; readonly nextAttemptAt: string | null; readonly settledAt: string | null; readonly lastAttempt: { readonly at: string; readonly status: number | null; readonly error: string | null; readonly durationMs: number } | null }
  }
  /** Send an event of type test to one config */
  readonly testNotification: {
    readonly call: { readonly params: { readonly bucket: string; readonly configId: string } }
    readonly answer: { /** The webhook-id of every attempt */ readonly deliveryId: string; readonly configId: string; readonly type: "object-created" | "object-removed" | "object-tagged" | "object-lock-changed" | "test"; readonly eventName: string; readonly eventTime: string; readonly key: string | null; readonly versionId: string | null; readonly status: "pending" | "delivered" | "dead"; readonly attempts: number; readonly nextAttemptAt: string | null; readonly settledAt: string | null; readonly lastAttempt: { readonly at: string; readonly status: number | null; readonly error: string | null; readonly durationMs: number } | null }
  }
}

export const DATA_ROUTES: Readonly<Record<keyof DataOperations, Route>> = {
  healthz: {"method":"GET","path":"/api/v1/healthz","rest":null,"body":"none","answer":"json","takesToken":false,"options":{},"fields":[],"cursors":[],"items":null},
  readyz: {"method":"GET","path":"/readyz","rest":null,"body":"none","answer":"json","takesToken":false,"options":{},"fields":[],"cursors":[],"items":null},
  getOpenAPI: {"method":"GET","path":"/api/v1/openapi.json","rest":null,"body":"none","answer":"json","takesToken":false,"options":{"ifNoneMatch":{"in":"header","name":"If-None-Match"}},"fields":[],"cursors":[],"items":null},
  createToken: {"method":"POST","path":"/api/v1/auth/token","rest":null,"body":"json","answer":"json","takesToken":false,"options":{},"fields":["accessKeyId","secretKey"],"cursors":[],"items":null},
  createTemporaryToken: {"method":"POST","path":"/api/v1/auth/temporary","rest":null,"body":"json","answer":"json","takesToken":true,"options":{},"fields":["sessionName","scopes","ttlSeconds"],"cursors":[],"items":null},
  signURL: {"method":"POST","path":"/api/v1/sign-url","rest":null,"body":"json","answer":"json","takesToken":true,"options":{},"fields":["method","bucket","key","keyPrefix","ttlSeconds","contentType","contentLengthMax","checksumAlg","checksumVal","idempotencyKey","responseContentType","responseContentDisposition","reason"],"cursors":[],"items":null},
  getSigned: {"method":"GET","path":"/api/v1/signed/{bucket}/{key}","rest":"key","body":"none","answer":"bytes","takesToken":false,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"token":{"in":"query","name":"token","required":true},"range":{"in":"header","name":"Range"},"ifRange":{"in":"header","name":"If-Range"},"ifMatch":{"in":"header","name":"If-Match"},"ifNoneMatch":{"in":"header","name":"If-None-Match"},"ifModifiedSince":{"in":"header","name":"If-Modified-Since"},"ifUnmodifiedSince":{"in":"header","name":"If-Unmodified-Since"}},"fields":[],"cursors":[],"items":null},
  putSigned: {"method":"PUT","path":"/api/v1/signed/{bucket}/{key}","rest":"key","body":"bytes","answer":"json","takesToken":false,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"token":{"in":"query","name":"token","required":true},"checksumCRC32":{"in":"header","name":"X-Service-Checksum-CRC32"},"checksumCRC32C":{"in":"header","name":"X-Service-Checksum-CRC32C"},"checksumCRC64NVME":{"in":"header","name":"X-Service-Checksum-CRC64NVME"},"checksumSHA1":{"in":"header","name":"X-Service-Checksum-SHA1"},"checksumSHA256":{"in":"header","name":"X-Service-Checksum-SHA256"},"contentMD5":{"in":"header","name":"Content-MD5"},"contentDigest":{"in":"header","name":"Content-Digest"},"reprDigest":{"in":"header","name":"Repr-Digest"},"metadata":{"in":"header","name":"X-Service-Meta-*"},"cacheControl":{"in":"header","name":"Cache-Control"},"contentDisposition":{"in":"header","name":"Content-Disposition"},"contentEncoding":{"in":"header","name":"Content-Encoding"},"contentLanguage":{"in":"header","name":"Content-Language"},"expires":{"in":"header","name":"Expires"},"ifMatch":{"in":"header","name":"If-Match"},"ifNoneMatch":{"in":"header","name":"If-None-Match"},"idempotencyKey":{"in":"header","name":"Idempotency-Key"},"contentType":{"in":"header","name":"Content-Type"}},"fields":[],"cursors":[],"items":null},
  listBuckets: {"method":"GET","path":"/api/v1/buckets","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"prefix":{"in":"query","name":"prefix"},"maxBuckets":{"in":"query","name":"maxBuckets"},"continuationToken":{"in":"query","name":"continuationToken"}},"fields":[],"cursors":["continuationToken"],"items":"buckets"},
  createBucket: {"method":"POST","path":"/api/v1/buckets","rest":null,"body":"json","answer":"json","takesToken":true,"options":{},"fields":["name","versioning","objectLockEnabled"],"cursors":[],"items":null},
  getBucket: {"method":"GET","path":"/api/v1/buckets/{bucket}","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  deleteBucket: {"method":"DELETE","path":"/api/v1/buckets/{bucket}","rest":null,"body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  getBucketVersioning: {"method":"GET","path":"/api/v1/buckets/{bucket}/versioning","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  setBucketVersioning: {"method":"PUT","path":"/api/v1/buckets/{bucket}/versioning","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["status"],"cursors":[],"items":null},
  getBucketObjectLock: {"method":"GET","path":"/api/v1/buckets/{bucket}/object-lock","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  setBucketObjectLock: {"method":"PUT","path":"/api/v1/buckets/{bucket}/object-lock","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["defaultRetention"],"cursors":[],"items":null},
  getBucketCORS: {"method":"GET","path":"/api/v1/buckets/{bucket}/cors","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  setBucketCORS: {"method":"PUT","path":"/api/v1/buckets/{bucket}/cors","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["rules"],"cursors":[],"items":null},
  deleteBucketCORS: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/cors","rest":null,"body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  getBucketLifecycle: {"method":"GET","path":"/api/v1/buckets/{bucket}/lifecycle","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  setBucketLifecycle: {"method":"PUT","path":"/api/v1/buckets/{bucket}/lifecycle","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["rules"],"cursors":[],"items":null},
  deleteBucketLifecycle: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/lifecycle","rest":null,"body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  previewBucketLifecycle: {"method":"POST","path":"/api/v1/buckets/{bucket}/lifecycle/preview","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["rules","limit","continuationToken"],"cursors":[],"items":null},
  getBucketReplication: {"method":"GET","path":"/api/v1/buckets/{bucket}/replication","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  setBucketReplication: {"method":"PUT","path":"/api/v1/buckets/{bucket}/replication","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["target","rules","existing"],"cursors":[],"items":null},
  deleteBucketReplication: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/replication","rest":null,"body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  getReplicationStatus: {"method":"GET","path":"/api/v1/buckets/{bucket}/replication/status","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  resyncBucketReplication: {"method":"POST","path":"/api/v1/buckets/{bucket}/replication/resync","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  retryBucketReplication: {"method":"POST","path":"/api/v1/buckets/{bucket}/replication/retry","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  compareBucketReplication: {"method":"POST","path":"/api/v1/buckets/{bucket}/replication/compare","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["continuationToken"],"cursors":[],"items":null},
  listObjects: {"method":"GET","path":"/api/v1/buckets/{bucket}/objects","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"prefix":{"in":"query","name":"prefix"},"delimiter":{"in":"query","name":"delimiter"},"maxKeys":{"in":"query","name":"maxKeys"},"continuationToken":{"in":"query","name":"continuationToken"},"startAfter":{"in":"query","name":"startAfter"},"include":{"in":"query","name":"include"}},"fields":[],"cursors":["continuationToken"],"items":"objects"},
  putObject: {"method":"PUT","path":"/api/v1/buckets/{bucket}/objects/{key}","rest":"key","body":"bytes","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"checksumCRC32":{"in":"header","name":"X-Service-Checksum-CRC32"},"checksumCRC32C":{"in":"header","name":"X-Service-Checksum-CRC32C"},"checksumCRC64NVME":{"in":"header","name":"X-Service-Checksum-CRC64NVME"},"checksumSHA1":{"in":"header","name":"X-Service-Checksum-SHA1"},"checksumSHA256":{"in":"header","name":"X-Service-Checksum-SHA256"},"contentMD5":{"in":"header","name":"Content-MD5"},"contentDigest":{"in":"header","name":"Content-Digest"},"reprDigest":{"in":"header","name":"Repr-Digest"},"metadata":{"in":"header","name":"X-Service-Meta-*"},"cacheControl":{"in":"header","name":"Cache-Control"},"contentDisposition":{"in":"header","name":"Content-Disposition"},"contentEncoding":{"in":"header","name":"Content-Encoding"},"contentLanguage":{"in":"header","name":"Content-Language"},"expires":{"in":"header","name":"Expires"},"tags":{"in":"header","name":"X-Service-Tagging","form":true},"retentionMode":{"in":"header","name":"X-Service-Retention-Mode"},"retainUntil":{"in":"header","name":"X-Service-Retain-Until"},"legalHold":{"in":"header","name":"X-Service-Legal-Hold"},"ifMatch":{"in":"header","name":"If-Match"},"ifNoneMatch":{"in":"header","name":"If-None-Match"},"idempotencyKey":{"in":"header","name":"Idempotency-Key"},"contentType":{"in":"header","name":"Content-Type"}},"fields":[],"cursors":[],"items":null},
  getObject: {"method":"GET","path":"/api/v1/buckets/{bucket}/objects/{key}","rest":"key","body":"none","answer":"bytes","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"},"range":{"in":"header","name":"Range"},"ifRange":{"in":"header","name":"If-Range"},"ifMatch":{"in":"header","name":"If-Match"},"ifNoneMatch":{"in":"header","name":"If-None-Match"},"ifModifiedSince":{"in":"header","name":"If-Modified-Since"},"ifUnmodifiedSince":{"in":"header","name":"If-Unmodified-Since"}},"fields":[],"cursors":[],"items":null},
  headObject: {"method":"HEAD","path":"/api/v1/buckets/{bucket}/objects/{key}","rest":"key","body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"},"ifMatch":{"in":"header","name":"If-Match"},"ifNoneMatch":{"in":"header","name":"If-None-Match"},"ifModifiedSince":{"in":"header","name":"If-Modified-Since"},"ifUnmodifiedSince":{"in":"header","name":"If-Unmodified-Since"}},"fields":[],"cursors":[],"items":null},
  deleteObject: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/objects/{key}","rest":"key","body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"},"ifMatch":{"in":"header","name":"If-Match"}},"fields":[],"cursors":[],"items":null},
  batchDeleteObjects: {"method":"POST","path":"/api/v1/buckets/{bucket}/objects:batchDelete","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["objects","quiet"],"cursors":[],"items":null},
  copyObject: {"method":"POST","path":"/api/v1/buckets/{bucket}/object-copy/{key}","rest":"key","body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true}},"fields":["sourceBucket","sourceKey","sourceVersionId","metadataDirective","contentType","metadata","cacheControl","contentDisposition","contentEncoding","contentLanguage","expires","ifMatch","ifNoneMatch","ifModifiedSince","ifUnmodifiedSince","requireAbsent","requireMatchEtag"],"cursors":[],"items":null},
  listObjectVersions: {"method":"GET","path":"/api/v1/buckets/{bucket}/versions","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"prefix":{"in":"query","name":"prefix"},"delimiter":{"in":"query","name":"delimiter"},"maxKeys":{"in":"query","name":"maxKeys"},"keyMarker":{"in":"query","name":"keyMarker"},"versionIdMarker":{"in":"query","name":"versionIdMarker"}},"fields":[],"cursors":["keyMarker","versionIdMarker"],"items":"versions"},
  getObjectTags: {"method":"GET","path":"/api/v1/buckets/{bucket}/object-tags/{key}","rest":"key","body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":[],"cursors":[],"items":null},
  setObjectTags: {"method":"PUT","path":"/api/v1/buckets/{bucket}/object-tags/{key}","rest":"key","body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":["tags"],"cursors":[],"items":null},
  deleteObjectTags: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/object-tags/{key}","rest":"key","body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":[],"cursors":[],"items":null},
  getObjectRetention: {"method":"GET","path":"/api/v1/buckets/{bucket}/object-retention/{key}","rest":"key","body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":[],"cursors":[],"items":null},
  setObjectRetention: {"method":"PUT","path":"/api/v1/buckets/{bucket}/object-retention/{key}","rest":"key","body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":["mode","retainUntil"],"cursors":[],"items":null},
  getObjectLegalHold: {"method":"GET","path":"/api/v1/buckets/{bucket}/object-legal-hold/{key}","rest":"key","body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":[],"cursors":[],"items":null},
  setObjectLegalHold: {"method":"PUT","path":"/api/v1/buckets/{bucket}/object-legal-hold/{key}","rest":"key","body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"versionId":{"in":"query","name":"versionId"}},"fields":["status"],"cursors":[],"items":null},
  createMultipartUpload: {"method":"POST","path":"/api/v1/buckets/{bucket}/multipart/{key}","rest":"key","body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"key":{"in":"path","name":"key","required":true},"checksumAlgorithm":{"in":"header","name":"X-Service-Checksum-Algorithm"},"retentionMode":{"in":"header","name":"X-Service-Retention-Mode"},"retainUntil":{"in":"header","name":"X-Service-Retain-Until"}},"fields":["contentType","metadata","cacheControl","contentDisposition","contentEncoding","contentLanguage","expires","tags","retention","legalHold","checksumAlg"],"cursors":[],"items":null},
  completeMultipartUpload: {"method":"POST","path":"/api/v1/buckets/{bucket}/multipart/{uploadId}/complete/{key}","rest":"key","body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"uploadId":{"in":"path","name":"uploadId","required":true},"key":{"in":"path","name":"key","required":true},"checksumCRC32":{"in":"header","name":"X-Service-Checksum-CRC32"},"checksumCRC32C":{"in":"header","name":"X-Service-Checksum-CRC32C"},"checksumCRC64NVME":{"in":"header","name":"X-Service-Checksum-CRC64NVME"},"checksumSHA1":{"in":"header","name":"X-Service-Checksum-SHA1"},"checksumSHA256":{"in":"header","name":"X-Service-Checksum-SHA256"},"ifMatch":{"in":"header","name":"If-Match"},"ifNoneMatch":{"in":"header","name":"If-None-Match"}},"fields":["parts"],"cursors":[],"items":null},
  abortMultipartUpload: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/multipart/{uploadId}/{key}","rest":"key","body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"uploadId":{"in":"path","name":"uploadId","required":true},"key":{"in":"path","name":"key","required":true}},"fields":[],"cursors":[],"items":null},
  listMultipartUploads: {"method":"GET","path":"/api/v1/buckets/{bucket}/multipart","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"prefix":{"in":"query","name":"prefix"},"keyMarker":{"in":"query","name":"keyMarker"},"uploadIdMarker":{"in":"query","name":"uploadIdMarker"},"maxUploads":{"in":"query","name":"maxUploads"}},"fields":[],"cursors":["keyMarker","uploadIdMarker"],"items":"uploads"},
  uploadPart: {"method":"PUT","path":"/api/v1/buckets/{bucket}/multipart/{uploadId}/parts/{partNumber}/{key}","rest":"key","body":"bytes","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"uploadId":{"in":"path","name":"uploadId","required":true},"partNumber":{"in":"path","name":"partNumber","required":true},"key":{"in":"path","name":"key","required":true},"checksumCRC32":{"in":"header","name":"X-Service-Checksum-CRC32"},"checksumCRC32C":{"in":"header","name":"X-Service-Checksum-CRC32C"},"checksumCRC64NVME":{"in":"header","name":"X-Service-Checksum-CRC64NVME"},"checksumSHA1":{"in":"header","name":"X-Service-Checksum-SHA1"},"checksumSHA256":{"in":"header","name":"X-Service-Checksum-SHA256"},"contentMD5":{"in":"header","name":"Content-MD5"},"contentDigest":{"in":"header","name":"Content-Digest"},"reprDigest":{"in":"header","name":"Repr-Digest"},"contentType":{"in":"header","name":"Content-Type"}},"fields":[],"cursors":[],"items":null},
  listParts: {"method":"GET","path":"/api/v1/buckets/{bucket}/multipart/{uploadId}/parts/{key}","rest":"key","body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"uploadId":{"in":"path","name":"uploadId","required":true},"key":{"in":"path","name":"key","required":true},"maxParts":{"in":"query","name":"maxParts"},"partNumberMarker":{"in":"query","name":"partNumberMarker"}},"fields":[],"cursors":["partNumberMarker"],"items":"parts"},
  getBucketNotifications: {"method":"GET","path":"/api/v1/buckets/{bucket}/notifications","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  setBucketNotifications: {"method":"PUT","path":"/api/v1/buckets/{bucket}/notifications","rest":null,"body":"json","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":["configs"],"cursors":[],"items":null},
  deleteBucketNotifications: {"method":"DELETE","path":"/api/v1/buckets/{bucket}/notifications","rest":null,"body":"none","answer":"empty","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true}},"fields":[],"cursors":[],"items":null},
  listNotificationDeliveries: {"method":"GET","path":"/api/v1/buckets/{bucket}/notifications/deliveries","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"configId":{"in":"query","name":"configId"},"status":{"in":"query","name":"status"},"maxDeliveries":{"in":"query","name":"maxDeliveries"},"continuationToken":{"in":"query","name":"continuationToken"}},"fields":[],"cursors":["continuationToken"],"items":"deliveries"},
  redeliverNotification: {"method":"POST","path":"/api/v1/buckets/{bucket}/notifications/deliveries/{deliveryId}:redeliver","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"deliveryId":{"in":"path","name":"deliveryId","required":true}},"fields":[],"cursors":[],"items":null},
  testNotification: {"method":"POST","path":"/api/v1/buckets/{bucket}/notifications/{configId}:test","rest":null,"body":"none","answer":"json","takesToken":true,"options":{"bucket":{"in":"path","name":"bucket","required":true},"configId":{"in":"path","name":"configId","required":true}},"fields":[],"cursors":[],"items":null},
}
