/**
 * The contract of the attributes of a version: tags, retention, legal hold.
 */
export const tagRows = {
  'tags.get': 'GET /buckets/{bucket}/object-tags/{key...}: {tags} [native: Versions] [decisions 5]',
  'tags.get.unset': 'never set: {"tags":{}} [decisions 5]',
  'tags.set': 'PUT /buckets/{bucket}/object-tags/{key...}: 200, replaces the set [native: Versions]',
  'tags.delete': 'DELETE /buckets/{bucket}/object-tags/{key...}: 204, may be repeated [native: Versions]',
  'tags.version': 'versionId selects the version [decisions 0]',
  'tags.count': 'X-Service-Tag-Count of a read [decisions 3]',
  'tags.invalid': 'too many or too long: 400 invalid_tag [decisions 5]',
  'tags.duplicate': 'twice the same key: 400, in JSON and in the header [decisions 5]',
  'tags.no-object': 'no object, no version: 404 [native: Errors 404]',
} as const

export const retentionRows = {
  'retention.get': 'GET /buckets/{bucket}/object-retention/{key...}: {mode, retainUntil} [native: Versions]',
  'retention.set':
    'PUT /buckets/{bucket}/object-retention/{key...}: 200 and the present retention [native: Versions]',
  'retention.unset': 'never set: 404 not_found [decisions 3]',
  'retention.unset.no-lock': 'never set in a bucket without object lock: 404 as well [decisions 16]',
  'retention.modes': 'GOVERNANCE or COMPLIANCE, else 400 [native: Retention]',
  'retention.offset': 'a time with an offset is taken and given in UTC [decisions 0]',
  'retention.extended': 'a later time: 200 [native: States]',
  'retention.equal': 'the same time: 200 and no change [decisions 14]',
  'retention.shortened': 'an earlier time: 403 object_locked, unchanged [native: States] [decisions 3]',
  'retention.stronger': 'GOVERNANCE to COMPLIANCE with the same or a later time [decisions 14]',
  'retention.weaker': 'COMPLIANCE to GOVERNANCE: 403 object_locked [decisions 14]',
  'retention.past': 'a time in the past: 400 [decisions 14]',
  'retention.bound': 'at most security.max_retention ahead, on every path: else 400 [decisions 17]',
  'retention.condition':
    'a bucket policy may deny by the days that a retention has left, as in S3 Object Lock [native: Authorization 1]',
  'retention.no-bypass': 'there is no bypass of governance [native: States]',
  'retention.default': 'a new version without one gets the default retention of its bucket [decisions 2]',
  'retention.bypass':
    'GOVERNANCE can be set aside with the verb admin, by an explicit request for which the native API has no member [decisions 14]',
  'retention.no-lock': 'a bucket without object lock: 400 object_lock_not_enabled [decisions 3]',
  'retention.version': 'versionId selects the version [decisions 0]',
  'retention.delete': 'DELETE of a version under retention: 403 object_locked [decisions 3]',
  'retention.no-object': 'no object, no version: 404 [native: Errors 404]',
} as const

export const legalHoldRows = {
  'legal-hold.get': 'GET /buckets/{bucket}/object-legal-hold/{key...}: {status} [native: Versions]',
  'legal-hold.set': 'PUT /buckets/{bucket}/object-legal-hold/{key...}: ON, OFF, ON again [native: States]',
  'legal-hold.unset': 'never set: 200 OFF [decisions 3] [decisions 16]',
  'legal-hold.status': 'anything but ON and OFF: 400 [native: Legal hold]',
  'legal-hold.no-lock': 'a bucket without object lock: 400 object_lock_not_enabled [decisions 3]',
  'legal-hold.version': 'versionId selects the version [decisions 0]',
  'legal-hold.delete': 'DELETE of a version on hold: 403 object_locked, 204 once released [decisions 3]',
  'legal-hold.no-object': 'no object: 404 [native: Errors 404]',
} as const
