/**
 * The routes of the S3 API of a bucket's replication. [AWS S3 API reference: ReplicationConfiguration]
 *
 * Rules: S3 names a role where this needs the credentials of the other store, so a destination is that of the replication that is set already, by the
 * native API or for all buckets of the tenant; what a client reads here it can change and send back. What is not done here is refused by the name of its
 * element.
 */
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import { Refusal } from '../../../base/refusal.ts'
import type { Services } from '../../../operations/base/services.ts'
import {
  deleteBucketReplication,
  getBucketReplication,
} from '../../../operations/replication/bucket-replication.ts'
import type { SiteRuleInput } from '../../../operations/replication/replication-config.ts'
import { setBucketReplication } from '../../../operations/replication/set-bucket-replication.ts'
import type { SiteRecord, SiteRule } from '../../../state-machine/sites/records.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
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

const ROOT = 'ReplicationConfiguration'
const STATES = ['Enabled', 'Disabled'] as const
const RULE_MEMBERS = [
  'ID',
  'Priority',
  'Prefix',
  'Filter',
  'Status',
  'DeleteMarkerReplication',
  'ExistingObjectReplication',
  'Destination',
]
const CONDITIONS = ['Prefix', 'Tag']
const NOTE =
  'The target is set by the native API, with its credentials; here it is the Destination arn:aws:s3:::<bucket there>, with the Role that GetBucketReplication shows.'

export const replicationRoutes: readonly S3Route[] = [
  s3Route(
    getBucketReplication,
    {
      action: 'GetBucketReplication',
      method: 'GET',
      level: 'bucket',
      marks: ['replication'],
      note: NOTE,
    },
    async (services, principal, { bucket }) => {
      const site = await getBucketReplication(services, principal, { bucket })
      const rules = site.rules.map((rule, n) => ruleElement(site, rule, site.rules.length - n))
      return xmlAnswer(element(ROOT, element('Role', roleOf(services, site)), ...rules))
    },
  ),

  s3Route(
    setBucketReplication,
    {
      action: 'PutBucketReplication',
      method: 'PUT',
      level: 'bucket',
      marks: ['replication'],
      body: configurationBody(ROOT),
      note: `${NOTE} Replaces the rules; the one with the highest Priority comes first.`,
    },
    async (services, principal, call) => {
      const { bucket } = call
      const site = await presentSite(services, principal, bucket)
      const body = bodyOf(call)
      takeOnly(body, ['Role', 'Rule'])
      checkRole(body.needed('Role').text.trim(), roleOf(services, site))
      const given = body.childrenNamed('Rule').map((rule) => ruleIn(rule, site))
      if (given.length === 0) throw new MalformedXmlError(`${ROOT} has no Rule: expected one or more`)
      // Clients that give no priorities give their order.
      const ordered = [...given].sort((one, other) => other.priority - one.priority)
      const { endpoint, bucket: there, region, isVirtualHost: virtualHost, accessKeyId } = site.target
      const target = { endpoint, bucket: there, region, virtualHost, accessKeyId }
      const existing = given.some((rule) => rule.existing)
      const rules = ordered.map(({ rule }) => rule)
      await setBucketReplication(services, principal, { bucket, target, rules, existing })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    deleteBucketReplication,
    {
      action: 'DeleteBucketReplication',
      method: 'DELETE',
      level: 'bucket',
      marks: ['replication'],
      status: 204,
    },
    async (services, principal, { bucket }) => {
      await deleteBucketReplication(services, principal, { bucket })
      return { kind: 'empty' }
    },
  ),
]

/** Throws S3Fault where no target is set. */
async function presentSite(
  services: Services,
  principal: AccessKeyPrincipal,
  bucket: S3Call['bucket'],
): Promise<SiteRecord> {
  try {
    return await getBucketReplication(services, principal, { bucket })
  } catch (error) {
    if (!(error instanceof Refusal) || error.extras.missing !== 'replication') throw error
    throw new S3Fault(
      'InvalidRequest',
      `Bucket "${bucket}" has no target yet, and a role has no credentials for one: set it by PUT /api/v1/buckets/${bucket}/replication or holdfast replication set`,
    )
  }
}

const roleOf = ({ config }: Services, { tenantId, bucket }: SiteRecord): string =>
  `arn:holdfast:replication:${config.security.s3Region}:${tenantId}:${bucket}`

const destinationOf = ({ target }: SiteRecord): string => `arn:aws:s3:::${target.bucket}`

function checkRole(role: string, expected: string): void {
  if (role === expected) return
  throw new S3Fault(
    'InvalidArgument',
    `Role is "${role.slice(0, 120)}": the credentials are those of the target, so it has to be ${expected}`,
    { elements: { ArgumentName: 'Role', ArgumentValue: role.slice(0, 120) } },
  )
}

interface GivenRule {
  readonly priority: number
  readonly existing: boolean
  readonly rule: SiteRuleInput
}

function ruleIn(rule: ReadElement, site: SiteRecord): GivenRule {
  takeOnly(rule, RULE_MEMBERS)
  checkDestination(rule.needed('Destination'), site)
  const id = rule.textOf('ID')?.trim() ?? ''
  const conditions = filterConditions(rule, CONDITIONS)
  const prefix = (conditions ?? rule).textOf('Prefix')
  const tags = conditions === null ? [] : tagsIn(conditions)
  const deletes = deletesIn(
    rule,
    site.rules.find((one) => one.id === id),
  )
  const existing = onlyChild(rule, 'ExistingObjectReplication')
  return {
    priority: countIn(rule, 'Priority') ?? 0,
    existing: existing !== null && oneOf(existing, 'Status', STATES) === 'Enabled',
    rule: {
      ...(id === '' ? {} : { id }),
      status: oneOf(rule, 'Status', STATES),
      filter: { ...(prefix === null ? {} : { prefix }), ...(tags.length === 0 ? {} : { tags }) },
      deletes,
    },
  }
}

/** S3 has no word for removals of versions by their id: a rule that sends them keeps doing so. */
function deletesIn(rule: ReadElement, present: SiteRule | undefined): string {
  const markers = onlyChild(rule, 'DeleteMarkerReplication')
  // Rules without a filter are of the older form, in which delete markers are always sent.
  const areSent =
    markers === null ? onlyChild(rule, 'Filter') === null : oneOf(markers, 'Status', STATES) === 'Enabled'
  if (!areSent) return 'none'
  return present?.deletes === 'all' ? 'all' : 'markers'
}

function checkDestination(destination: ReadElement, site: SiteRecord): void {
  takeOnly(destination, ['Bucket', 'StorageClass'])
  if (destination.textOf('StorageClass') !== null) oneOf(destination, 'StorageClass', ['STANDARD'])
  const arn = destination.needed('Bucket').text.trim()
  if (arn === destinationOf(site)) return
  throw new S3Fault(
    'InvalidArgument',
    `Destination is "${arn.slice(0, 120)}": the target that is set is ${destinationOf(site)}; another one is set by the native API, with its credentials`,
    { elements: { ArgumentName: 'Bucket', ArgumentValue: arn.slice(0, 120) } },
  )
}

function ruleElement(site: SiteRecord, rule: SiteRule, priority: number): XmlElement {
  const { id, isEnabled, deletes } = rule
  return element(
    'Rule',
    element('ID', id),
    element('Priority', priority),
    filterElement(rule),
    element('Status', isEnabled ? 'Enabled' : 'Disabled'),
    element('DeleteMarkerReplication', element('Status', deletes === 'none' ? 'Disabled' : 'Enabled')),
    element('Destination', element('Bucket', destinationOf(site))),
  )
}

function filterElement({ prefix, tags }: SiteRule): XmlElement {
  const conditions = [
    ...(prefix === '' ? [] : [element('Prefix', prefix)]),
    ...Object.entries(tags).map(([key, value]) =>
      element('Tag', element('Key', key), element('Value', value)),
    ),
  ]
  if (conditions.length === 0) return element('Filter', element('Prefix', ''))
  return element('Filter', ...(conditions.length === 1 ? conditions : [element('And', ...conditions)]))
}
