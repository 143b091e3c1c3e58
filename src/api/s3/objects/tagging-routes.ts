/**
 * The routes of the S3 API of tags, of buckets and of versions. [AWS S3 API reference: Tagging]
 */
import { getBucketTags } from '../../../operations/buckets/bucket-lookups.ts'
import { deleteBucketTags } from '../../../operations/buckets/delete-bucket-tags.ts'
import { setBucketTags } from '../../../operations/buckets/set-bucket-tags.ts'
import { deleteObjectTags } from '../../../operations/objects/delete-object-tags.ts'
import { getObjectTags } from '../../../operations/objects/object-lookups.ts'
import { setObjectTags } from '../../../operations/objects/set-object-tags.ts'
import { s3VersionHeaders } from './object-headers.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { VERSION_PARAMETER, versionIn } from '../base/version-parameter.ts'
import { bodyOf, configurationBody, takeOnly } from '../base/xml-fields.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const BODY = configurationBody('Tagging')

export const taggingRoutes: readonly S3Route[] = [
  s3Route(
    getBucketTags,
    { action: 'GetBucketTagging', method: 'GET', level: 'bucket', marks: ['tagging'] },
    async (services, principal, { bucket }) => {
      const { tags } = await getBucketTags(services, principal, { bucket })
      return xmlAnswer(taggingElement(tags))
    },
  ),

  s3Route(
    setBucketTags,
    {
      action: 'PutBucketTagging',
      method: 'PUT',
      level: 'bucket',
      marks: ['tagging'],
      body: BODY,
    },
    async (services, principal, call) => {
      await setBucketTags(services, principal, { bucket: call.bucket, tags: tagsIn(call) })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    deleteBucketTags,
    { action: 'DeleteBucketTagging', method: 'DELETE', level: 'bucket', marks: ['tagging'], status: 204 },
    async (services, principal, { bucket }) => {
      await deleteBucketTags(services, principal, { bucket })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getObjectTags,
    {
      action: 'GetObjectTagging',
      method: 'GET',
      level: 'object',
      marks: ['tagging'],
      parameters: [VERSION_PARAMETER],
    },
    async (services, principal, { bucket, key, query }) => {
      const found = await getObjectTags(services, principal, { bucket, key, versionId: versionIn(query) })
      return xmlAnswer(taggingElement(found.object.tags), s3VersionHeaders(found.bucket, found.object))
    },
  ),

  s3Route(
    setObjectTags,
    {
      action: 'PutObjectTagging',
      method: 'PUT',
      level: 'object',
      marks: ['tagging'],
      parameters: [VERSION_PARAMETER],
      body: BODY,
    },
    async (services, principal, call) => {
      const { bucket, key, query } = call
      const wanted = { bucket, key, versionId: versionIn(query), tags: tagsIn(call) }
      const found = await setObjectTags(services, principal, wanted)
      return { kind: 'empty', headers: s3VersionHeaders(found.bucket, found.object) }
    },
  ),

  s3Route(
    deleteObjectTags,
    {
      action: 'DeleteObjectTagging',
      method: 'DELETE',
      level: 'object',
      marks: ['tagging'],
      parameters: [VERSION_PARAMETER],
      status: 204,
    },
    async (services, principal, { bucket, key, query }) => {
      const found = await deleteObjectTags(services, principal, { bucket, key, versionId: versionIn(query) })
      return { kind: 'empty', headers: s3VersionHeaders(found.bucket, found.object) }
    },
  ),
]

/** In the order of the body, with names that are given twice. */
function tagsIn(call: S3Call): readonly (readonly [name: string, value: string])[] {
  const body = bodyOf(call)
  takeOnly(body, ['TagSet'])
  const set = body.needed('TagSet')
  takeOnly(set, ['Tag'])
  return set.children.map((tag) => {
    takeOnly(tag, ['Key', 'Value'])
    return [tag.needed('Key').text, tag.needed('Value').text] as const
  })
}

/** By name, so that equal sets are equal documents. */
function taggingElement(tags: Readonly<Record<string, string>>): XmlElement {
  const found = Object.entries(tags)
    .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map(([name, value]) => element('Tag', element('Key', name), element('Value', value)))
  return element('Tagging', element('TagSet', ...found))
}
