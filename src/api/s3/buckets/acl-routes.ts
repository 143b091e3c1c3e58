/**
 * The access control lists of the S3 API: the owner has full control, of buckets and objects alike, and no one else has any grant.
 *
 * Rule: a list that says the same is accepted; every other is refused by name. [decisions 17, "S3: ACLs"]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { confirmBucketAcl, getBucketAcl } from '../../../operations/buckets/fixed-settings.ts'
import { confirmObjectAcl, getObjectAcl } from '../../../operations/objects/object-acl.ts'
import { headerText } from '../../header-text.ts'
import type { Answer } from '../../route.ts'
import { s3VersionHeaders } from '../objects/object-headers.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { ownerElement, xmlAnswer } from '../base/xml-answers.ts'
import { VERSION_PARAMETER, versionIn } from '../base/version-parameter.ts'
import { configurationBody, takeOnly } from '../base/xml-fields.ts'
import type { ReadElement } from '../xml/read-xml.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const ACL = 'x-amz-acl'
/** [AWS S3 User Guide: Canned ACL] */
const CANNED: ReadonlySet<string> = new Set([
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
  'log-delivery-write',
])

/** Those that leave all rights with the owner, who is the same for a bucket and what is in it. */
const PRIVATE = {
  bucket: ['private'],
  object: ['private', 'bucket-owner-full-control', 'bucket-owner-read'],
} as const
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance'
const NOTE = 'The owner has full control; `private`, and lists that say the same, are accepted.'

export const aclRoutes: readonly S3Route[] = [
  s3Route(
    getBucketAcl,
    { action: 'GetBucketAcl', method: 'GET', level: 'bucket', marks: ['acl'], note: NOTE },
    async (services, principal, { bucket }) => {
      const { tenantId } = await getBucketAcl(services, principal, { bucket })
      return xmlAnswer(policyOf(tenantId))
    },
  ),

  s3Route(
    confirmBucketAcl,
    {
      action: 'PutBucketAcl',
      method: 'PUT',
      level: 'bucket',
      marks: ['acl'],
      headers: [ACL],
      body: configurationBody('AccessControlPolicy', false),
      note: NOTE,
    },
    async (services, principal, call) => {
      await confirmBucketAcl(services, principal, { bucket: call.bucket })
      checkWish(call, 'bucket', principal.tenantId)
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getObjectAcl,
    {
      action: 'GetObjectAcl',
      method: 'GET',
      level: 'object',
      marks: ['acl'],
      parameters: [VERSION_PARAMETER],
      note: NOTE,
    },
    async (services, principal, { bucket, key, query }): Promise<Answer> => {
      const found = await getObjectAcl(services, principal, { bucket, key, versionId: versionIn(query) })
      return xmlAnswer(policyOf(principal.tenantId), s3VersionHeaders(found.bucket, found.object))
    },
  ),

  s3Route(
    confirmObjectAcl,
    {
      action: 'PutObjectAcl',
      method: 'PUT',
      level: 'object',
      marks: ['acl'],
      parameters: [VERSION_PARAMETER],
      headers: [ACL],
      body: configurationBody('AccessControlPolicy', false),
      note: NOTE,
    },
    async (services, principal, call) => {
      const { bucket, key, query } = call
      const found = await confirmObjectAcl(services, principal, { bucket, key, versionId: versionIn(query) })
      checkWish(call, 'object', principal.tenantId)
      return { kind: 'empty', headers: s3VersionHeaders(found.bucket, found.object) }
    },
  ),
]

/** Throws S3Fault NotImplemented, InvalidArgument. */
export function checkPrivateAcl(headers: IncomingHttpHeaders, of: keyof typeof PRIVATE): void {
  const acl = headerText(headers, ACL)
  const accepted: readonly string[] = PRIVATE[of]
  if (acl === undefined || accepted.includes(acl)) return
  if (!CANNED.has(acl))
    throw new S3Fault('InvalidArgument', `${ACL} "${acl.slice(0, 80)}" is no canned ACL of S3`)
  throw new S3Fault(
    'NotImplemented',
    `The ACL "${acl.slice(0, 80)}" is not supported: everything here is private, and what a key may do is said by its scopes`,
  )
}

/** Throws S3Fault MissingSecurityHeader, NotImplemented, InvalidArgument, MalformedACLError. */
function checkWish({ headers, xml }: S3Call, of: keyof typeof PRIVATE, owner: string): void {
  if (headers[ACL] === undefined && xml === null)
    throw new S3Fault('MissingSecurityHeader', `An ACL is given as ${ACL}, or as a body`)
  checkPrivateAcl(headers, of)
  if (xml !== null) checkPolicy(xml, owner)
}

function checkPolicy(policy: ReadElement, owner: string): void {
  takeOnly(policy, ['Owner', 'AccessControlList'])
  const given = policy.child('Owner')?.textOf('ID')?.trim() ?? owner
  const grants = policy.child('AccessControlList')?.children ?? []
  if (given !== owner || grants.length === 0)
    throw new S3Fault('MalformedACLError', 'The list names another owner, or grants nothing')
  for (const grant of grants) {
    const grantee = grant.child('Grantee')?.textOf('ID')?.trim()
    if (grantee !== owner || grant.textOf('Permission')?.trim() !== 'FULL_CONTROL')
      throw new S3Fault(
        'NotImplemented',
        'A grant beside FULL_CONTROL of the owner is not supported: everything here is private',
      )
  }
}

function policyOf(tenantId: string): XmlElement {
  const { children } = ownerElement('Owner', tenantId)
  const grantee: XmlElement = {
    name: 'Grantee',
    attributes: { 'xmlns:xsi': SCHEMA_INSTANCE, 'xsi:type': 'CanonicalUser' },
    children,
  }
  const grant = element('Grant', grantee, element('Permission', 'FULL_CONTROL'))
  return element('AccessControlPolicy', element('Owner', ...children), element('AccessControlList', grant))
}
