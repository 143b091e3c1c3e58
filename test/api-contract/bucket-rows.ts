/**
 * The contract of buckets, their listings and their versions.
 */
export const bucketRows = {
  'buckets.list': 'GET /buckets: the buckets of the tenant, by name [native: Buckets] [decisions 2]',
  'buckets.list.pages': 'prefix, maxBuckets and continuationToken [decisions 2]',
  'buckets.list.scope': 'shows only buckets that some scope matches [decisions 14]',
  'buckets.create': 'POST /buckets: 201, Location, a private bucket [native: Buckets] [decisions 0]',
  'buckets.create.record': 'every member of the bucket record, and no other [decisions 2]',
  'buckets.create.options': 'versioning in any case; object lock forces versioning [decisions 2]',
  'buckets.create.lock-suspended':
    'object lock with another versioning: 409 invalid_bucket_state [decisions 2]',
  'buckets.create.duplicate': '409 bucket_already_exists, for the owner too [native: Errors 409]',
  'buckets.create.per-tenant': 'a name taken by another tenant is free [decisions 0]',
  'buckets.create.name': '3 to 63 characters by the rules of S3, else 400 invalid_bucket_name [decisions 0]',
  'buckets.create.reserved': 'the name api, and those of probes: 400 invalid_bucket_name [decisions 17]',
  'buckets.get': 'GET /buckets/{bucket}: the record of the creation [native: Buckets]',
  'buckets.usage':
    'GET /buckets/{bucket}/usage: the exact counts of a bucket, for keys that may read it as a whole [record 106]',
  'buckets.list.usage':
    'include=usage: the counts of each bucket that the key may read as a whole; other values: 400 [record 106]',
  'buckets.delete': 'DELETE /buckets/{bucket}: 204, then 404 [native: Buckets]',
  'buckets.delete.object': 'an object in it: 409 bucket_not_empty [native: Buckets]',
  'buckets.delete.versions': 'a version or a delete marker in it: 409 bucket_not_empty [decisions 2]',
  'buckets.delete.uploads': 'an upload in progress: 409 bucket_not_empty [decisions 2]',
  'buckets.versioning.get': 'GET /buckets/{bucket}/versioning: {status} [native: Buckets] [decisions 2]',
  'buckets.versioning.set': 'PUT /buckets/{bucket}/versioning: 200 and the state [native: Buckets]',
  'buckets.versioning.case': 'a status is taken in any case, given in one [decisions 2]',
  'buckets.versioning.never-back': 'never back to Unversioned: 400 invalid_request [decisions 2]',
  'buckets.versioning.lock':
    'a bucket with object lock is not suspended: 409 invalid_bucket_state [decisions 2]',
  'buckets.object-lock.get':
    'GET /buckets/{bucket}/object-lock: {objectLockEnabled, defaultRetention} [decisions 2]',
  'buckets.object-lock.set':
    'PUT /buckets/{bucket}/object-lock: object lock for good, and the default retention; versioning not Enabled: 409 [decisions 2]',
  'buckets.other-tenant':
    'the bucket of another tenant: 404 with the same message as for none [native: Service 3]',
  'buckets.anonymous': 'no route of a bucket answers without a token: 401 [native: Service 4]',
  'buckets.scope.whole': 'creation and versioning need a scope without prefix [decisions 14]',
} as const

export const listingRows = {
  'listing.objects': 'GET /buckets/{bucket}/objects: objects with what is known of each [native: Objects]',
  'listing.members': 'key, size, etag, lastModified, storageClass, versionId of each [decisions 4]',
  'listing.envelope': 'bucket, prefix, delimiter, maxKeys, keyCount, isTruncated always there [decisions 4]',
  'listing.order': 'UTF-8 byte order [decisions 4]',
  'listing.prefix': 'prefix limits the keys [native: Objects]',
  'listing.delimiter': 'keys behind a delimiter become commonPrefixes, which count as keys [decisions 4]',
  'listing.start-after': 'startAfter begins behind a key [decisions 4]',
  'listing.pages': 'continuationToken continues where a page ended [native: Objects]',
  'listing.max-keys.default': '1000 by default [decisions 4]',
  'listing.max-keys.clamp': 'clamped to 1 to 1000 [decisions 4]',
  'listing.max-keys.integer': 'no integer: 400 [decisions 4]',
  'listing.token.bound': 'a token fits bucket, prefix and delimiter, else 400 [decisions 4]',
  'listing.token.changed': 'a changed token: 400 invalid_continuation_token [decisions 4]',
  'listing.next-absent': 'next members are absent unless isTruncated [decisions 16]',
  'listing.no-markers': 'a key hidden by a delete marker is not listed [native: Objects]',
  'listing.metadata':
    'include=metadata: the user metadata of each object that the caller may read; other values: 400 [record 83]',
  'listing.scope': 'prefix must lie within the scope of the key, else 403 [decisions 14]',
  'listing.unknown-query': 'an unknown or repeated parameter: 400 [decisions 0]',
  'listing.no-bucket': 'no bucket: 404 [native: Errors 404]',
} as const

export const versionRows = {
  'versions.list': 'GET /buckets/{bucket}/versions: versions and delete markers [native: Versions]',
  'versions.list.order': 'keys in byte order, of a key the newest first [decisions 4]',
  'versions.list.members': 'a version and a marker have their members and no other [decisions 4]',
  'versions.list.prefix': 'prefix and delimiter [decisions 4]',
  'versions.list.markers': 'keyMarker and versionIdMarker continue where a page ended [native: Versions]',
  'versions.list.key-marker': 'keyMarker alone passes over all versions of the key [decisions 4]',
  'versions.list.marker-alone': 'versionIdMarker without keyMarker: 400 [decisions 4]',
  'versions.list.max-keys': 'clamped like that of objects; no integer: 400 [decisions 4]',
  'versions.list.next-absent': 'next markers are absent unless isTruncated [decisions 16]',
  'versions.list.scope': 'prefix must lie within the scope of the key, else 403 [decisions 14]',
  'versions.unversioned': 'versionId "null" in bodies, the header left out [decisions 3]',
  'versions.enabled': 'each put makes a version with an id of its own [native: Versioning 3]',
  'versions.select': 'versionId selects on GET, HEAD and DELETE [decisions 0]',
  'versions.select.null': 'null selects the null version [decisions 0]',
  'versions.select.unknown': 'a version that is not there: 404 not_found [decisions 10]',
  'versions.select.empty': 'an empty versionId: 400 [decisions 0]',
  'versions.marker.created': 'DELETE of a key makes a delete marker, reported in headers [native: States]',
  'versions.marker.get': 'GET behind a delete marker: 404 and X-Service-Delete-Marker [decisions 3]',
  'versions.marker.by-id': 'GET of a delete marker by its id: 405 method_not_allowed [decisions 3]',
  'versions.marker.removed': 'DELETE of the marker brings the object back [decisions 3]',
  'versions.removed': 'DELETE of a version removes it for good, again is no error [decisions 3]',
  'versions.suspended': 'a suspended bucket replaces only the null version [decisions 2]',
} as const
