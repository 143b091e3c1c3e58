/**
 * The routes of the S3 API of a bucket's lifecycle rules. [AWS S3 API reference: LifecycleRule]
 *
 * Rule: what is not done here, such as a transition to another storage class, is refused by the name of its element.
 */
import { deleteBucketLifecycle } from '../../../operations/lifecycle/delete-bucket-lifecycle.ts'
import { getBucketLifecycle } from '../../../operations/lifecycle/get-bucket-lifecycle.ts'
import type { LifecycleRuleInput } from '../../../operations/lifecycle/lifecycle-rules.ts'
import { setBucketLifecycle } from '../../../operations/lifecycle/set-bucket-lifecycle.ts'
import type { LifecycleRule } from '../../../state-machine/lifecycle/records.ts'
import { timeText } from '../../wire.ts'
import { type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import {
  bodyOf,
  configurationBody,
  countIn,
  filterConditions,
  oneOf,
  onlyChild,
  tagsIn,
  takeOnly,
} from '../base/xml-fields.ts'
import { MalformedXmlError, type ReadElement } from '../xml/read-xml.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const RULE_MEMBERS = [
  'ID',
  'Status',
  'Prefix',
  'Filter',
  'Expiration',
  'NoncurrentVersionExpiration',
  'AbortIncompleteMultipartUpload',
]
const CONDITIONS = ['Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan']
const NOTE =
  'Transitions are refused. A prefix beside the filter, as older clients send it, is shown inside it. `NewerNoncurrentVersions` counts objects and no delete markers.'

export const lifecycleRoutes: readonly S3Route[] = [
  s3Route(
    getBucketLifecycle,
    { action: 'GetBucketLifecycleConfiguration', method: 'GET', level: 'bucket', marks: ['lifecycle'] },
    async (services, principal, { bucket }) => {
      const { rules } = await getBucketLifecycle(services, principal, { bucket })
      return xmlAnswer(element('LifecycleConfiguration', ...rules.map(ruleElement)))
    },
  ),

  s3Route(
    setBucketLifecycle,
    {
      action: 'PutBucketLifecycleConfiguration',
      method: 'PUT',
      level: 'bucket',
      marks: ['lifecycle'],
      // It is about transitions alone, and there are none.
      headers: ['x-amz-transition-default-minimum-object-size'],
      body: configurationBody('LifecycleConfiguration'),
      note: NOTE,
    },
    async (services, principal, call) => {
      const body = bodyOf(call)
      takeOnly(body, ['Rule'])
      const rules = body.childrenNamed('Rule').map(ruleIn)
      await setBucketLifecycle(services, principal, { bucket: call.bucket, rules })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    deleteBucketLifecycle,
    { action: 'DeleteBucketLifecycle', method: 'DELETE', level: 'bucket', marks: ['lifecycle'], status: 204 },
    async (services, principal, { bucket }) => {
      await deleteBucketLifecycle(services, principal, { bucket })
      return { kind: 'empty' }
    },
  ),
]

function ruleIn(rule: ReadElement): LifecycleRuleInput {
  takeOnly(rule, RULE_MEMBERS)
  const id = rule.textOf('ID')?.trim() ?? ''
  const filter = filterIn(rule)
  const expiration = onlyChild(rule, 'Expiration')
  const noncurrent = onlyChild(rule, 'NoncurrentVersionExpiration')
  const abort = onlyChild(rule, 'AbortIncompleteMultipartUpload')
  return {
    ...(id === '' ? {} : { id }),
    status: oneOf(rule, 'Status', ['Enabled', 'Disabled']),
    ...(filter === null ? {} : { filter }),
    ...(expiration === null ? {} : { expiration: expirationIn(expiration) }),
    ...(noncurrent === null ? {} : { noncurrentVersionExpiration: noncurrentIn(noncurrent) }),
    ...(abort === null
      ? {}
      : {
          abortIncompleteMultipartUpload: { daysAfterInitiation: neededCount(abort, 'DaysAfterInitiation') },
        }),
  }
}

type FilterInput = NonNullable<LifecycleRuleInput['filter']>

/** Older clients send a prefix instead of a filter. */
function filterIn(rule: ReadElement): FilterInput | null {
  const conditions = filterConditions(rule, CONDITIONS)
  if (conditions !== null) return conditionsIn(conditions)
  const prefix = rule.textOf('Prefix')
  return prefix === null ? null : { prefix }
}

function conditionsIn(parent: ReadElement): FilterInput {
  const prefix = parent.textOf('Prefix')
  const tags = tagsIn(parent)
  const sizeGreaterThan = countIn(parent, 'ObjectSizeGreaterThan')
  const sizeLessThan = countIn(parent, 'ObjectSizeLessThan')
  return {
    ...(prefix === null ? {} : { prefix }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(sizeGreaterThan === null ? {} : { sizeGreaterThan }),
    ...(sizeLessThan === null ? {} : { sizeLessThan }),
  }
}

function expirationIn(expiration: ReadElement): NonNullable<LifecycleRuleInput['expiration']> {
  takeOnly(expiration, ['Days', 'Date', 'ExpiredObjectDeleteMarker'])
  const days = countIn(expiration, 'Days')
  const date = expiration.textOf('Date')?.trim() ?? null
  const marker =
    expiration.textOf('ExpiredObjectDeleteMarker') === null
      ? null
      : oneOf(expiration, 'ExpiredObjectDeleteMarker', ['true', 'false'])
  return {
    ...(days === null ? {} : { days }),
    ...(date === null ? {} : { date }),
    ...(marker === null ? {} : { expiredObjectDeleteMarker: marker === 'true' }),
  }
}

function noncurrentIn(
  noncurrent: ReadElement,
): NonNullable<LifecycleRuleInput['noncurrentVersionExpiration']> {
  takeOnly(noncurrent, ['NoncurrentDays', 'NewerNoncurrentVersions'])
  const newerNoncurrentVersions = countIn(noncurrent, 'NewerNoncurrentVersions')
  return {
    noncurrentDays: neededCount(noncurrent, 'NoncurrentDays'),
    ...(newerNoncurrentVersions === null ? {} : { newerNoncurrentVersions }),
  }
}

/** Throws MalformedXmlError where it is not there. */
function neededCount(parent: ReadElement, name: string): number {
  const count = countIn(parent, name)
  if (count === null) throw new MalformedXmlError(`${parent.name} has no ${name}: expected one`)
  return count
}

function ruleElement({
  id,
  isEnabled,
  filter,
  expiration,
  noncurrent,
  abortUploadDays,
}: LifecycleRule): XmlElement {
  return element(
    'Rule',
    element('ID', id),
    filterElement(filter),
    element('Status', isEnabled ? 'Enabled' : 'Disabled'),
    expiration !== null && element('Expiration', expirationElement(expiration)),
    noncurrent !== null &&
      element(
        'NoncurrentVersionExpiration',
        element('NoncurrentDays', noncurrent.days),
        noncurrent.newerKept > 0 && element('NewerNoncurrentVersions', noncurrent.newerKept),
      ),
    abortUploadDays !== null &&
      element('AbortIncompleteMultipartUpload', element('DaysAfterInitiation', abortUploadDays)),
  )
}

function filterElement({ prefix, tags, sizeGreaterThan, sizeLessThan }: LifecycleRule['filter']): XmlElement {
  const conditions = [
    ...(prefix === '' ? [] : [element('Prefix', prefix)]),
    ...Object.entries(tags).map(([key, value]) =>
      element('Tag', element('Key', key), element('Value', value)),
    ),
    ...(sizeGreaterThan === null ? [] : [element('ObjectSizeGreaterThan', sizeGreaterThan)]),
    ...(sizeLessThan === null ? [] : [element('ObjectSizeLessThan', sizeLessThan)]),
  ]
  if (conditions.length === 0) return element('Filter', element('Prefix', ''))
  return element('Filter', ...(conditions.length === 1 ? conditions : [element('And', ...conditions)]))
}

function expirationElement(expiration: NonNullable<LifecycleRule['expiration']>): XmlElement {
  if ('days' in expiration) return element('Days', expiration.days)
  if ('date' in expiration) return element('Date', timeText(expiration.date))
  return element('ExpiredObjectDeleteMarker', 'true')
}
