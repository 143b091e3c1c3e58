/**
 * The contract of objects that are sealed with a key of their client, the same through both APIs. [docs/adr/0092-keys-of-clients.md]
 */
export const customerKeyRows = {
  'customer-keys.put':
    'three headers on an upload: sealed with the key, which is never kept; the etag is no MD5 [record 92]',
  'customer-keys.read':
    'GET, HEAD, ranges, parts and attributes: without the key 400, with another 403 [record 92]',
  'customer-keys.both': 'one record for both APIs; shown and listed as such [record 92]',
  'customer-keys.needless': 'a key for an object that has none: 400 [record 92]',
  'customer-keys.sharing': 'no chunk is shared with another object, whatever bytes and keys are [record 92]',
  'customer-keys.idempotency': 'a repeated upload is recognized; with another key: 409 [record 92]',
  'customer-keys.headers':
    'an incomplete, malformed or contradicting set of headers: 400, and nothing is stored [record 92]',
  'customer-keys.urls':
    'the key is taken in a header, never in a URL; signed and presigned URLs take it so [record 92]',
  'customer-keys.copy':
    'a copy is sealed with its own key, or the tenant’s; the source is read with its key [record 92]',
  'customer-keys.multipart': 'every part has the key of its upload; another: 400 [record 92]',
  'customer-keys.secure': 'over TLS, from this machine or a trusted proxy; otherwise 400 [record 92]',
  'customer-keys.usage': 'counted apart, so that an exchange of the key of the tenant ends [record 92]',
  'customer-keys.level':
    'while a member does not know it: 412 with the blocker version_incompatible [record 92]',
} as const
