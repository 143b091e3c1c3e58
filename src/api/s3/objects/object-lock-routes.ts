/**
 * The routes of the S3 API of object lock: the configuration of a bucket, retention and legal hold of a version. [AWS S3 API reference: ObjectLockConfiguration]
 */
import { getBucketObjectLock } from '../../../operations/buckets/bucket-lookups.ts'
import { setBucketObjectLock } from '../../../operations/buckets/set-bucket-object-lock.ts'
import { getObjectLegalHold, getObjectRetention } from '../../../operations/objects/object-lookups.ts'
import { setObjectLegalHold } from '../../../operations/objects/set-object-legal-hold.ts'
import { setObjectRetention } from '../../../operations/objects/set-object-retention.ts'
import type { DefaultRetention } from '../../../state-machine/buckets/records.ts'
import type { RetentionRecord } from '../../../state-machine/versions/records.ts'
import { readTime, timeText } from '../../wire.ts'
import { asksToBypass, BYPASS_HEADER } from './bypass-header.ts'
import { s3VersionHeaders } from './object-headers.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { VERSION_PARAMETER, versionIn } from '../base/version-parameter.ts'
import { bodyOf, configurationBody, countIn, oneOf, takeOnly } from '../base/xml-fields.ts'
import { MalformedXmlError, type ReadElement } from '../xml/read-xml.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const MODES = ['GOVERNANCE', 'COMPLIANCE'] as const

export const objectLockRoutes: readonly S3Route[] = [
  s3Route(
    getBucketObjectLock,
    { action: 'GetObjectLockConfiguration', method: 'GET', level: 'bucket', marks: ['object-lock'] },
    async (services, principal, { bucket }) => {
      const { objectLockEnabled, defaultRetention } = await getBucketObjectLock(services, principal, {
        bucket,
      })
      if (!objectLockEnabled)
        throw new S3Fault('ObjectLockConfigurationNotFoundError', `Bucket "${bucket}" has no object lock`)
      const rule = defaultRetention !== undefined && element('Rule', defaultElement(defaultRetention))
      return xmlAnswer(element('ObjectLockConfiguration', element('ObjectLockEnabled', 'Enabled'), rule))
    },
  ),

  s3Route(
    setBucketObjectLock,
    {
      action: 'PutObjectLockConfiguration',
      method: 'PUT',
      level: 'bucket',
      marks: ['object-lock'],
      body: configurationBody('ObjectLockConfiguration'),
      note: 'A year has 365 days. Needs the verb admin.',
    },
    async (services, principal, call) => {
      const body = bodyOf(call)
      takeOnly(body, ['ObjectLockEnabled', 'Rule'])
      oneOf(body, 'ObjectLockEnabled', ['Enabled'])
      const rule = body.child('Rule')
      const defaultRetention = rule === null ? null : defaultIn(rule)
      await setBucketObjectLock(services, principal, { bucket: call.bucket, defaultRetention })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getObjectRetention,
    {
      action: 'GetObjectRetention',
      method: 'GET',
      level: 'object',
      marks: ['retention'],
      parameters: [VERSION_PARAMETER],
    },
    async (services, principal, { bucket, key, query }) => {
      const found = await getObjectRetention(services, principal, {
        bucket,
        key,
        versionId: versionIn(query),
      })
      const { mode, until } = found.retention
      return xmlAnswer(
        element('Retention', element('Mode', mode), element('RetainUntilDate', timeText(until))),
        s3VersionHeaders(found.bucket, found.object),
      )
    },
  ),

  s3Route(
    setObjectRetention,
    {
      action: 'PutObjectRetention',
      method: 'PUT',
      level: 'object',
      marks: ['retention'],
      parameters: [VERSION_PARAMETER],
      headers: [BYPASS_HEADER],
      body: configurationBody('Retention'),
      codes: { invalid_request: 'InvalidArgument' },
      note: `${BYPASS_HEADER} needs the verb admin.`,
    },
    async (services, principal, call) => {
      const { bucket, key, query, headers } = call
      const retention = retentionIn(bodyOf(call))
      const bypassGovernance = asksToBypass(headers)
      const wanted = { bucket, key, versionId: versionIn(query), retention, bypassGovernance }
      const found = await setObjectRetention(services, principal, wanted)
      return { kind: 'empty', headers: s3VersionHeaders(found.bucket, found.object) }
    },
  ),

  s3Route(
    getObjectLegalHold,
    {
      action: 'GetObjectLegalHold',
      method: 'GET',
      level: 'object',
      marks: ['legal-hold'],
      parameters: [VERSION_PARAMETER],
    },
    async (services, principal, { bucket, key, query }) => {
      const found = await getObjectLegalHold(services, principal, {
        bucket,
        key,
        versionId: versionIn(query),
      })
      if (!found.bucket.objectLockEnabled)
        throw new S3Fault('InvalidRequest', `Bucket "${bucket}" has no object lock`)
      const status = found.object.legalHold ? 'ON' : 'OFF'
      return xmlAnswer(
        element('LegalHold', element('Status', status)),
        s3VersionHeaders(found.bucket, found.object),
      )
    },
  ),

  s3Route(
    setObjectLegalHold,
    {
      action: 'PutObjectLegalHold',
      method: 'PUT',
      level: 'object',
      marks: ['legal-hold'],
      parameters: [VERSION_PARAMETER],
      body: configurationBody('LegalHold'),
    },
    async (services, principal, call) => {
      const { bucket, key, query } = call
      const body = bodyOf(call)
      takeOnly(body, ['Status'])
      const legalHold = oneOf(body, 'Status', ['ON', 'OFF']) === 'ON'
      const wanted = { bucket, key, versionId: versionIn(query), legalHold }
      const found = await setObjectLegalHold(services, principal, wanted)
      return { kind: 'empty', headers: s3VersionHeaders(found.bucket, found.object) }
    },
  ),
]

function defaultElement(given: DefaultRetention): XmlElement {
  const duration = 'days' in given ? element('Days', given.days) : element('Years', given.years)
  return element('DefaultRetention', element('Mode', given.mode), duration)
}

/** Throws MalformedXmlError, S3Fault InvalidRetentionPeriod. */
function defaultIn(rule: ReadElement): DefaultRetention {
  takeOnly(rule, ['DefaultRetention'])
  const given = rule.needed('DefaultRetention')
  takeOnly(given, ['Mode', 'Days', 'Years'])
  const mode = oneOf(given, 'Mode', MODES)
  const [days, years] = [countIn(given, 'Days'), countIn(given, 'Years')]
  if ((days === null) === (years === null))
    throw new MalformedXmlError('DefaultRetention has one of Days and Years')
  if ((days ?? years ?? 0) < 1)
    throw new S3Fault('InvalidRetentionPeriod', 'The default retention lasts a day or a year at least')
  return days === null ? { mode, years: years ?? 0 } : { mode, days }
}

/** Null: an empty body asks for none. Throws MalformedXmlError, Refusal. */
function retentionIn(body: ReadElement): RetentionRecord | null {
  takeOnly(body, ['Mode', 'RetainUntilDate'])
  if (body.children.length === 0) return null
  const mode = oneOf(body, 'Mode', MODES)
  const until = readTime('RetainUntilDate', body.needed('RetainUntilDate').text.trim())
  return { mode, until }
}
