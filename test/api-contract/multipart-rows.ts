/**
 * The contract of multipart uploads.
 */
export const multipartRows = {
  'multipart.create':
    'POST /buckets/{bucket}/multipart/{key...}: 201 and the upload [native: Multipart] [decisions 6]',
  'multipart.create.settings': 'type, metadata, tags, locks, checksumAlg in body or headers [decisions 6]',
  'multipart.create.twice-said': 'one setting in body and header: 400 [decisions 6]',
  'multipart.representation': 'representation headers in body or headers [decisions 17]',
  'multipart.id': 'mpu_ and 26 letters and digits [decisions 16]',
  'multipart.paths': 'a key that looks like another path is a key [decisions 16]',
  'multipart.part':
    'PUT /buckets/{bucket}/multipart/{uploadId}/parts/{partNumber}/{key...}: 200 [native: Multipart]',
  'multipart.part.answer': '{partNumber, etag, size, checksums}, and no other member [native: Multipart]',
  'multipart.part.rule': 'every digest is verified before a part is created [native: Part upload rules]',
  'multipart.part.sums': 'malformed, unsupported or mismatched: 400 [native: Part upload rules]',
  'multipart.part.no-sums': 'checksum headers may be left out [native: Part upload rules]',
  'multipart.part.again': 'a part that is sent again replaces the one before [native: States]',
  'multipart.part.quota': 'parts count in the quota of the tenant: 507 [native: Errors 507]',
  'multipart.parts':
    'GET /buckets/{bucket}/multipart/{uploadId}/parts/{key...}: parts and their checksums [native: Multipart]',
  'multipart.parts.pages': 'maxParts and partNumberMarker [decisions 6]',
  'multipart.complete':
    'POST /buckets/{bucket}/multipart/{uploadId}/complete/{key...}: 200 and the record [native: Multipart]',
  'multipart.complete.etag': '32 hex digits and the number of parts [decisions 0]',
  'multipart.complete.again': 'the same within 24 hours: the same answer [decisions 6]',
  'multipart.complete.invalid-part':
    'a part that is not there, or another tag: 400 invalid_part [decisions 6]',
  'multipart.complete.order': 'numbers that do not rise: 400 invalid_part_order [decisions 6]',
  'multipart.complete.small': 'a small part before the last: 400 entity_too_small [decisions 6]',
  'multipart.complete.gone': 'no upload: 404 not_found with a detail [decisions 6]',
  'multipart.complete.conditions':
    'If-Match and If-None-Match at the completion: 412 [native: Upload rules 4]',
  'multipart.abort':
    'DELETE /buckets/{bucket}/multipart/{uploadId}/{key...}: 204, may be repeated [native: Multipart]',
  'multipart.list': 'GET /buckets/{bucket}/multipart: uploads in progress [native: Multipart]',
  'multipart.list.pages': 'keyMarker, uploadIdMarker, maxUploads, prefix [decisions 6]',
  'multipart.next-absent': 'next markers are absent unless isTruncated [decisions 16]',
  'multipart.expiry': 'expiresAt is 7 days after creation, then it ends [decisions 6]',
  'multipart.scope': 'all of it is write, abort too; the lists are read [decisions 14]',
} as const
