/**
 * How each request of the native API on buckets and objects is written in S3.
 *
 * Owns: the table of forms. Knows nothing of: signatures, sockets. Rule: null where S3 has no form, such as taking versioning back.
 */
import type { ObjectAsk } from '../object-client.ts'
import {
  createBucket,
  deleteBucket,
  listBuckets,
  listObjects,
  listVersions,
  setVersioning,
} from './bucket-forms.ts'
import { type FormOf, type Place, type S3Form } from './form.ts'
import { abort, begin, complete, listParts, listUploads, uploadPart } from './multipart-forms.ts'
import {
  copyObject,
  deleteObject,
  deleteObjects,
  deleteTags,
  getObject,
  getTags,
  putLegalHold,
  putObject,
  putRetention,
  putTags,
} from './object-forms.ts'

/** Null: it has no form in S3. */
export function s3FormOf(ask: ObjectAsk): S3Form | null {
  const [path = '', search = ''] = ask.path.split('?')
  for (const [pattern, names, forms] of PATTERNS) {
    const found = pattern.exec(path)
    const form = forms[ask.method]
    if (found === null || form === undefined) continue
    const place = { bucket: '', key: '', uploadId: '', part: '', query: new URLSearchParams(search) }
    return form(ask, { ...place, ...Object.fromEntries(names.map((name, n) => [name, found[n + 1] ?? ''])) })
  }
  return null
}

/** The first one that fits. */
const PATTERNS: readonly (readonly [
  pattern: RegExp,
  names: readonly (keyof Place)[],
  forms: Record<string, FormOf>,
])[] = [
  [/^$/, [], { GET: listBuckets, POST: createBucket }],
  [/^\/([^/:]+)$/, ['bucket'], { DELETE: deleteBucket }],
  [/^\/([^/]+)\/versioning$/, ['bucket'], { PUT: setVersioning }],
  [/^\/([^/]+)\/objects$/, ['bucket'], { GET: listObjects }],
  [/^\/([^/]+)\/objects:batchDelete$/, ['bucket'], { POST: deleteObjects }],
  [/^\/([^/]+)\/versions$/, ['bucket'], { GET: listVersions }],
  [/^\/([^/]+)\/objects\/(.+)$/, ['bucket', 'key'], { GET: getObject, PUT: putObject, DELETE: deleteObject }],
  [/^\/([^/]+)\/object-copy\/(.+)$/, ['bucket', 'key'], { POST: copyObject }],
  [/^\/([^/]+)\/object-tags\/(.+)$/, ['bucket', 'key'], { GET: getTags, PUT: putTags, DELETE: deleteTags }],
  [/^\/([^/]+)\/object-retention\/(.+)$/, ['bucket', 'key'], { PUT: putRetention }],
  [/^\/([^/]+)\/object-legal-hold\/(.+)$/, ['bucket', 'key'], { PUT: putLegalHold }],
  [/^\/([^/]+)\/multipart$/, ['bucket'], { GET: listUploads }],
  [
    /^\/([^/]+)\/multipart\/(mpu_[^/]+)\/parts\/(\d+)\/(.+)$/,
    ['bucket', 'uploadId', 'part', 'key'],
    { PUT: uploadPart },
  ],
  [/^\/([^/]+)\/multipart\/(mpu_[^/]+)\/parts\/(.+)$/, ['bucket', 'uploadId', 'key'], { GET: listParts }],
  [/^\/([^/]+)\/multipart\/(mpu_[^/]+)\/complete\/(.+)$/, ['bucket', 'uploadId', 'key'], { POST: complete }],
  [/^\/([^/]+)\/multipart\/(mpu_[^/]+)\/(.+)$/, ['bucket', 'uploadId', 'key'], { DELETE: abort }],
  [/^\/([^/]+)\/multipart\/(.+)$/, ['bucket', 'key'], { POST: begin }],
]
