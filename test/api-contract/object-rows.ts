/**
 * The contract of objects: uploads, reads, deletes, copies, batches, repeated uploads.
 */
export const objectRows = {
  'objects.put': 'PUT /buckets/{bucket}/objects/{key...}: 200 and the record [native: Objects] [decisions 0]',
  'objects.put.record': 'every member of the record [decisions 3]',
  'objects.put.headers': 'every X-Service header of PUT, GET and HEAD [decisions 3]',
  'objects.put.streamed': 'a body without a length is stored as well [native: Objects]',
  'objects.put.coding': 'Transfer-Encoding other than chunked: 501, as RFC 9112 6.1 says [decisions 17]',
  'objects.put.content-md5': 'Content-MD5 is verified before the commit [decisions 17]',
  'objects.put.content-digest':
    'Content-Digest and Repr-Digest, of sha-256 and sha-512, are verified [decisions 17]',
  'objects.put.trailers': 'a trailer that claims a digest is verified, another refused [decisions 17]',
  'objects.put.unsupported': 'a header that asks for what is not there: 501 by name [decisions 17]',
  'objects.put.rule-1':
    'a digest that does not match: refused before a byte is committed [native: Upload rules 1]',
  'objects.put.rule-2': 'Idempotency-Key without a checksum: 400 checksum_required [native: Upload rules 2]',
  'objects.put.rule-3': 'a replay with another body, length or metadata is refused [native: Upload rules 3]',
  'objects.put.rule-4': 'a condition that fails: 412, and nothing is stored [native: Upload rules 4]',
  'objects.put.if-match': 'If-Match on PUT: quoted, bare, star, a list; never weak [native: Upload headers]',
  'objects.put.if-none-match': 'If-None-Match on PUT: star, a tag, a weak tag [native: Upload headers]',
  'objects.put.early': 'a condition that fails is answered before the body is sent [decisions 16]',
  'objects.put.race': 'of two uploads that may only create, one is stored [native: Upload rules 4]',
  'objects.put.algorithms':
    'CRC32, CRC32C, CRC64NVME, SHA1 and SHA256 are verified and kept [native: Upload headers]',
  'objects.put.several-sums': 'several checksums: all verified, all kept [decisions 14]',
  'objects.put.content-type': 'comes back as given; application/octet-stream when none is [decisions 3]',
  'objects.put.metadata': 'X-Service-Meta-* comes back byte for byte [decisions 3]',
  'objects.put.representation':
    'Cache-Control, Content-Disposition, Content-Encoding, Content-Language, Expires come back [decisions 17]',
  'objects.put.tagging': 'X-Service-Tagging, url-encoded [decisions 3]',
  'objects.put.locks': 'retention and legal hold in headers [decisions 3]',
  'objects.put.unknown-header': 'an unknown X-Service header: 400 [decisions 0]',
  'objects.etag': '32 hex digits and -1; bare in JSON, quoted in the header [decisions 0]',
  'objects.key': 'slashes, dots and all else of a key are kept as they are [native: Endpoints]',
  'objects.get': 'GET /buckets/{bucket}/objects/{key...}: the bytes [native: Objects]',
  'objects.get.range': 'Range: 206, Content-Range, the full length in X-Service-Object-Length [decisions 3]',
  'objects.get.beside': 'during PUTs of the same key it answers with one of them, complete [decisions 17]',
  'objects.get.conditions': 'If-Match and the others: 304 or 412 [decisions 0]',
  'objects.head': 'HEAD /buckets/{bucket}/objects/{key...}: the headers of GET [native: Objects]',
  'objects.delete': 'DELETE /buckets/{bucket}/objects/{key...}: 204 [native: Objects]',
  'objects.delete.absent': 'of a key that is not there: 204; bucket missing: 404 [decisions 16]',
  'objects.delete.if-match': 'If-Match on DELETE: 412 when it fails [native: Errors 412]',
  'objects.body.too-large':
    'refused before it is read when the length shows it, else while streaming [decisions 16]',
  'objects.body.continue': '100-continue only after the checks that need no body [decisions 16]',
  'objects.scope.verbs': 'read, write and delete open only their own operations [decisions 14]',
  'objects.scope.admin': 'admin opens none of these operations [decisions 14]',
  'objects.scope.prefix': 'a scope reaches its bucket and prefix, else 403 [native: Authorization 1]',
} as const

export const copyRows = {
  'objects.copy':
    'POST /buckets/{bucket}/object-copy/{key...}: 200 and the record [native: Objects] [decisions 16]',
  'objects.copy.source': 'sourceBucket and sourceKey are required [native: Copy request body]',
  'objects.copy.tenant': 'the source is looked up in the tenant of the caller [native: Service 3]',
  'objects.copy.version': 'sourceVersionId names the version [native: Copy request body]',
  'objects.copy.directive': 'COPY by default, REPLACE, in any case [decisions 14]',
  'objects.copy.ignored': 'COPY ignores contentType and metadata, REPLACE takes them [decisions 14]',
  'objects.copy.representation': 'COPY keeps the representation headers, REPLACE takes them [decisions 17]',
  'objects.copy.self': 'onto itself without REPLACE: 400 [decisions 14]',
  'objects.copy.if-match': 'ifMatch: 412 [native: Copy request body]',
  'objects.copy.if-none-match': 'ifNoneMatch: 412, never 304 [native: Copy request body] [decisions 14]',
  'objects.copy.if-modified-since': 'ifModifiedSince: 412 [native: Copy request body]',
  'objects.copy.if-unmodified-since': 'ifUnmodifiedSince: 412 [native: Copy request body]',
  'objects.copy.combined': 'entity tags go before dates [decisions 14]',
  'objects.copy.require-absent': 'requireAbsent: 412 when the target is there [native: Copy request body]',
  'objects.copy.require-match-etag':
    'requireMatchEtag: 412 unless the target has it [native: Copy request body]',
  'objects.copy.not-found': 'source, version or target bucket missing: 404 [native: Errors 404]',
  'objects.copy.scope': 'read on the source, write on the target, else 403 [decisions 14]',
} as const

export const batchDeleteRows = {
  'objects.batch': 'POST /buckets/{bucket}/objects:batchDelete: 200, results in order [native: Objects]',
  'objects.batch.counts': 'deletedCount and errorCount are always there [decisions 5]',
  'objects.batch.marker': 'deleteMarker and deleteMarkerVersionId of what was marked [decisions 5]',
  'objects.batch.absent': 'an absent key counts as deleted [decisions 5]',
  'objects.batch.quiet': 'quiet lists errors only, and counts all [decisions 16]',
  'objects.batch.locked': 'a locked version: 403 object_locked for it, the others continue [decisions 16]',
  'objects.batch.scope': 'a key outside of the scope is refused separately [decisions 16]',
} as const

export const idempotencyRows = {
  'idempotency.replay': 'the same again: the stored answer and Idempotent-Replayed [decisions 3]',
  'idempotency.twin': 'X-Service-Idempotency-Key is the same header [native: Upload headers]',
  'idempotency.conflict': 'another fingerprint: 409 idempotency_conflict [decisions 3]',
  'idempotency.bound': 'bound to digest, length and user metadata [native: Upload rules 3]',
  'idempotency.in-progress': 'while one runs: 409 idempotency_in_progress, Retry-After 1 [decisions 3]',
  'idempotency.checksum': 'missing checksum: 400 checksum_required [decisions 3]',
  'idempotency.key': '1 to 255 ASCII characters [decisions 3]',
  'idempotency.scope': 'of tenant, bucket and object key [decisions 3]',
  'idempotency.tenant': 'another tenant may use the same key [decisions 3]',
  'idempotency.day': 'kept for 24 hours [decisions 3]',
  'idempotency.entry': 'stored in the entry of the object: of two that race, one is stored [decisions 3]',
  'idempotency.condition': 'a replay is answered before its own condition is asked [decisions 3]',
} as const
