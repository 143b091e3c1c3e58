/**
 * The routes of the S3 API of a bucket's CORS rules. [AWS S3 API reference: CORSRule]
 */
import type { CorsRuleInput } from '../../../access/cors-rules.ts'
import { getBucketCORS } from '../../../operations/buckets/bucket-lookups.ts'
import { deleteBucketCORS } from '../../../operations/buckets/delete-bucket-cors.ts'
import { setBucketCORS } from '../../../operations/buckets/set-bucket-cors.ts'
import type { CorsRule } from '../../../state-machine/buckets/records.ts'
import { type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { bodyOf, configurationBody, countIn, takeOnly, textsOf } from '../base/xml-fields.ts'
import type { ReadElement } from '../xml/read-xml.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const RULE_MEMBERS = [
  'ID',
  'AllowedHeader',
  'AllowedMethod',
  'AllowedOrigin',
  'ExposeHeader',
  'MaxAgeSeconds',
]

export const bucketCorsRoutes: readonly S3Route[] = [
  s3Route(
    getBucketCORS,
    { action: 'GetBucketCors', method: 'GET', level: 'bucket', marks: ['cors'] },
    async (services, principal, { bucket }) => {
      const { rules } = await getBucketCORS(services, principal, { bucket })
      return xmlAnswer(element('CORSConfiguration', ...rules.map(ruleElement)))
    },
  ),

  s3Route(
    setBucketCORS,
    {
      action: 'PutBucketCors',
      method: 'PUT',
      level: 'bucket',
      marks: ['cors'],
      body: configurationBody('CORSConfiguration'),
    },
    async (services, principal, call) => {
      const body = bodyOf(call)
      takeOnly(body, ['CORSRule'])
      const rules = body.childrenNamed('CORSRule').map(ruleIn)
      await setBucketCORS(services, principal, { bucket: call.bucket, rules })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    deleteBucketCORS,
    { action: 'DeleteBucketCors', method: 'DELETE', level: 'bucket', marks: ['cors'], status: 204 },
    async (services, principal, { bucket }) => {
      await deleteBucketCORS(services, principal, { bucket })
      return { kind: 'empty' }
    },
  ),
]

/** Members that are not there are not given, so that they are not shown again. */
function ruleIn(rule: ReadElement): CorsRuleInput {
  takeOnly(rule, RULE_MEMBERS)
  const id = rule.textOf('ID')?.trim() ?? ''
  const allowedHeaders = textsOf(rule, 'AllowedHeader')
  const exposeHeaders = textsOf(rule, 'ExposeHeader')
  const maxAgeSeconds = countIn(rule, 'MaxAgeSeconds')
  return {
    ...(id === '' ? {} : { id }),
    allowedOrigins: textsOf(rule, 'AllowedOrigin'),
    allowedMethods: textsOf(rule, 'AllowedMethod'),
    ...(allowedHeaders.length === 0 ? {} : { allowedHeaders }),
    ...(exposeHeaders.length === 0 ? {} : { exposeHeaders }),
    ...(maxAgeSeconds === null ? {} : { maxAgeSeconds }),
  }
}

function ruleElement(rule: CorsRule): XmlElement {
  const { id, allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders, maxAgeSeconds } = rule
  const each = (name: string, texts: readonly string[] | null) =>
    (texts ?? []).map((text) => element(name, text))
  return element(
    'CORSRule',
    id !== null && element('ID', id),
    ...each('AllowedHeader', allowedHeaders),
    ...each('AllowedMethod', allowedMethods),
    ...each('AllowedOrigin', allowedOrigins),
    ...each('ExposeHeader', exposeHeaders),
    maxAgeSeconds !== null && element('MaxAgeSeconds', maxAgeSeconds),
  )
}
