/**
 * Names that the examples of several routes share, as parameters of their paths. The examples form one story: a tenant, a bucket
 * of it, an object in that bucket, and what can be done with them.
 */
export const ACME = { id: 'acme' }
/** A tenant that is disabled and deleted; no other example needs it. */
export const FORMER = { id: 'former' }
export const GALLERY_KEY = { ...ACME, keyId: '{createTenantKey.accessKeyId}' }
export const ACME_PHOTOS = { ...ACME, bucket: 'photos' }

export const PHOTOS = { bucket: 'photos' }
export const CAT = { ...PHOTOS, key: '2026/cat.txt' }
export const FILM = { ...PHOTOS, key: '2026/film.txt' }
export const FILM_UPLOAD = { ...PHOTOS, uploadId: '{createMultipartUpload.uploadId}', key: '2026/film.txt' }
export const PAGE = 'https://app.example.com'

/** Asked for by another owner. */
export const APPROVAL = { id: 'apr_5e0f3c1a9b7d2468ace01357' }
export const MEMBER = { nodeId: 'n3' }
export const DISK = { diskId: '5e0f3c1a9b7d2468ace0135724681357' }
/** Finished before the story begins. */
export const BACKUP = { backupId: '20261127t120000z-0123abcd' }
export const REBALANCE = { id: '{rebalance.operationId}' }
