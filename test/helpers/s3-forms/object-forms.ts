/**
 * Objects and what is set on them, in S3.
 */
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import type { Json, ObjectAsk } from '../object-client.ts'
import {
  bodyOf,
  escaped,
  md5Of,
  nothing,
  objectPath,
  s3Headers,
  stored,
  text,
  type FormOf,
  type Headers,
  type Place,
  type S3Form,
} from './form.ts'

export interface Named {
  readonly key: string
  readonly versionId?: string
}

export function deleteObjects(ask: ObjectAsk, { bucket }: Place): S3Form {
  const { objects } = bodyOf<{ readonly objects: readonly Named[] }>(ask)
  const named = objects.map(({ key, versionId }) => {
    const version = versionId === undefined ? '' : `<VersionId>${escaped(versionId)}</VersionId>`
    return `<Object><Key>${escaped(key)}</Key>${version}</Object>`
  })
  const body = `<Delete>${named.join('')}</Delete>`
  return {
    action: 'DeleteObjects',
    method: 'POST',
    path: `/${bucket}?delete`,
    headers: { 'content-md5': md5Of(body) },
    body,
    read: ({ xml }) => ({ results: (xml?.children ?? []).map(deletedOf) }),
  }
}

export function deletedOf(one: ReadElement): Json {
  const versionId = one.textOf('VersionId')
  const named = { key: text(one, 'Key'), ...(versionId === null ? {} : { versionId }) }
  if (one.name === 'Error') {
    const code = text(one, 'Code') === 'AccessDenied' ? 'object_locked' : text(one, 'Code')
    return { ...named, error: { code, message: text(one, 'Message') } }
  }
  if (one.textOf('DeleteMarker') !== 'true') return named
  return { ...named, deleteMarker: true, deleteMarkerVersionId: text(one, 'DeleteMarkerVersionId') }
}

export const getObject: FormOf = (ask, place) => ({
  action: 'GetObject',
  method: 'GET',
  path: objectPath(place),
  headers: s3Headers(ask),
  read: nothing,
})

export const putObject: FormOf = (ask, place) => ({
  action: 'PutObject',
  method: 'PUT',
  path: objectPath(place),
  headers: s3Headers(ask),
  body: bodyOf<Uint8Array>(ask),
  read: stored,
})

export const deleteObject: FormOf = (ask, place) => ({
  action: 'DeleteObject',
  method: 'DELETE',
  path: objectPath(place),
  headers: s3Headers(ask),
  read: nothing,
})

export function copyObject(ask: ObjectAsk, place: Place): S3Form {
  const { sourceBucket, sourceKey, sourceVersionId, ...wanted } =
    bodyOf<Record<string, string | undefined>>(ask)
  const version = sourceVersionId === undefined ? '' : `?versionId=${encodeURIComponent(sourceVersionId)}`
  const { metadataDirective, requireMatchEtag, requireAbsent } = wanted
  const quoted = (etag: string): string => (etag === '*' ? etag : `"${etag}"`)
  return {
    action: 'CopyObject',
    method: 'PUT',
    path: objectPath(place),
    headers: {
      'x-amz-copy-source': `/${sourceBucket}/${encodeURIComponent(sourceKey ?? '')}${version}`,
      ...(metadataDirective === undefined ? {} : { 'x-amz-metadata-directive': metadataDirective }),
      ...(requireMatchEtag === undefined ? {} : { 'if-match': quoted(requireMatchEtag) }),
      ...(requireAbsent === undefined ? {} : { 'if-none-match': '*' }),
    },
    read: stored,
  }
}

export const getTags: FormOf = (_, place) => ({
  action: 'GetObjectTagging',
  method: 'GET',
  path: objectPath(place, 'tagging'),
  read: ({ xml }) => ({
    tags: Object.fromEntries(
      (xml?.needed('TagSet').childrenNamed('Tag') ?? []).map((tag) => [text(tag, 'Key'), text(tag, 'Value')]),
    ),
  }),
})

export function putTags(ask: ObjectAsk, place: Place): S3Form {
  const { tags } = bodyOf<{ readonly tags: Headers }>(ask)
  const elements = Object.entries(tags).map(
    ([name, value]) => `<Tag><Key>${escaped(name)}</Key><Value>${escaped(value)}</Value></Tag>`,
  )
  const body = `<Tagging><TagSet>${elements.join('')}</TagSet></Tagging>`
  return {
    action: 'PutObjectTagging',
    method: 'PUT',
    path: objectPath(place, 'tagging'),
    body,
    read: nothing,
  }
}

export const deleteTags: FormOf = (_, place) => ({
  action: 'DeleteObjectTagging',
  method: 'DELETE',
  path: objectPath(place, 'tagging'),
  read: nothing,
})

export function putRetention(ask: ObjectAsk, place: Place): S3Form {
  const { mode, retainUntil } = bodyOf<{ readonly mode: string; readonly retainUntil: string }>(ask)
  return {
    action: 'PutObjectRetention',
    method: 'PUT',
    path: objectPath(place, 'retention'),
    body: `<Retention><Mode>${mode}</Mode><RetainUntilDate>${retainUntil}</RetainUntilDate></Retention>`,
    read: nothing,
  }
}

export const putLegalHold: FormOf = (ask, place) => ({
  action: 'PutObjectLegalHold',
  method: 'PUT',
  path: objectPath(place, 'legal-hold'),
  body: `<LegalHold><Status>${bodyOf<{ readonly status: string }>(ask).status}</Status></LegalHold>`,
  read: nothing,
})
