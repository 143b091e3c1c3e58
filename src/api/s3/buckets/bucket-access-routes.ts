/**
 * The routes of the S3 API of what is the same for all buckets: encryption at rest, no public access, ownership.
 *
 * Rule: a configuration that says what holds is accepted, and changes nothing; every other is refused by name, after the caller is authorized. [decisions 17]
 */
import {
  confirmBucketEncryption,
  confirmBucketOwnership,
  confirmPublicAccessBlock,
  getBucketEncryption,
  getBucketOwnership,
  getPublicAccessBlock,
} from '../../../operations/buckets/fixed-settings.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { bodyOf, configurationBody, takeOnly } from '../base/xml-fields.ts'
import type { ReadElement } from '../xml/read-xml.ts'
import { element } from '../xml/write-xml.ts'

const ENCRYPTION = 'ServerSideEncryptionConfiguration'
const BY_DEFAULT = 'ApplyServerSideEncryptionByDefault'
const ALGORITHM = 'AES256'
const BLOCKS = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'] as const
const OWNERSHIP = 'BucketOwnerEnforced'

export const bucketAccessRoutes: readonly S3Route[] = [
  s3Route(
    getBucketEncryption,
    {
      action: 'GetBucketEncryption',
      method: 'GET',
      level: 'bucket',
      marks: ['encryption'],
      note: 'Always AES256: everything is encrypted at rest.',
    },
    async (services, principal, { bucket }) => {
      await getBucketEncryption(services, principal, { bucket })
      const algorithm = element(BY_DEFAULT, element('SSEAlgorithm', ALGORITHM))
      return xmlAnswer(element(ENCRYPTION, element('Rule', algorithm, element('BucketKeyEnabled', 'false'))))
    },
  ),

  s3Route(
    confirmBucketEncryption,
    {
      action: 'PutBucketEncryption',
      method: 'PUT',
      level: 'bucket',
      marks: ['encryption'],
      body: configurationBody(ENCRYPTION),
      note: 'AES256 is accepted and changes nothing; KMS is refused by name.',
    },
    async (services, principal, call) => {
      await confirmBucketEncryption(services, principal, { bucket: call.bucket })
      checkEncryption(bodyOf(call))
      return { kind: 'empty' }
    },
  ),

  s3Route(
    confirmBucketEncryption,
    {
      action: 'DeleteBucketEncryption',
      method: 'DELETE',
      level: 'bucket',
      marks: ['encryption'],
      status: 204,
      note: 'Changes nothing, as in S3: what stays is AES256.',
    },
    async (services, principal, { bucket }) => {
      await confirmBucketEncryption(services, principal, { bucket })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getPublicAccessBlock,
    {
      action: 'GetPublicAccessBlock',
      method: 'GET',
      level: 'bucket',
      marks: ['publicAccessBlock'],
      note: 'All four are always true.',
    },
    async (services, principal, { bucket }) => {
      await getPublicAccessBlock(services, principal, { bucket })
      return xmlAnswer(
        element('PublicAccessBlockConfiguration', ...BLOCKS.map((name) => element(name, 'true'))),
      )
    },
  ),

  s3Route(
    confirmPublicAccessBlock,
    {
      action: 'PutPublicAccessBlock',
      method: 'PUT',
      level: 'bucket',
      marks: ['publicAccessBlock'],
      body: configurationBody('PublicAccessBlockConfiguration'),
      note: 'All four true are accepted and change nothing.',
    },
    async (services, principal, call) => {
      await confirmPublicAccessBlock(services, principal, { bucket: call.bucket })
      checkBlocks(bodyOf(call))
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getBucketOwnership,
    {
      action: 'GetBucketOwnershipControls',
      method: 'GET',
      level: 'bucket',
      marks: ['ownershipControls'],
      note: `Always ${OWNERSHIP}.`,
    },
    async (services, principal, { bucket }) => {
      await getBucketOwnership(services, principal, { bucket })
      return xmlAnswer(element('OwnershipControls', element('Rule', element('ObjectOwnership', OWNERSHIP))))
    },
  ),

  s3Route(
    confirmBucketOwnership,
    {
      action: 'PutBucketOwnershipControls',
      method: 'PUT',
      level: 'bucket',
      marks: ['ownershipControls'],
      body: configurationBody('OwnershipControls'),
      note: `${OWNERSHIP} is accepted and changes nothing.`,
    },
    async (services, principal, call) => {
      await confirmBucketOwnership(services, principal, { bucket: call.bucket })
      const body = bodyOf(call)
      takeOnly(body, ['Rule'])
      checkOwnership(body.needed('Rule').needed('ObjectOwnership').text.trim())
      return { kind: 'empty' }
    },
  ),
]

/** Throws S3Fault NotImplemented. */
export function checkOwnership(ownership: string): void {
  if (ownership === OWNERSHIP) return
  throw new S3Fault(
    'NotImplemented',
    `The ownership "${ownership.slice(0, 80)}" is not supported: ${OWNERSHIP} always holds`,
  )
}

function checkEncryption(body: ReadElement): void {
  takeOnly(body, ['Rule'])
  const rule = body.needed('Rule')
  takeOnly(rule, [BY_DEFAULT, 'BucketKeyEnabled'])
  const byDefault = rule.needed(BY_DEFAULT)
  const algorithm = byDefault.needed('SSEAlgorithm').text.trim()
  if (algorithm !== ALGORITHM || byDefault.child('KMSMasterKeyID') !== null)
    throw new S3Fault(
      'NotImplemented',
      `The encryption "${algorithm.slice(0, 80)}" is not supported: ${ALGORITHM} always holds, with keys of the cluster`,
    )
  if (rule.textOf('BucketKeyEnabled')?.trim().toLowerCase() === 'true')
    throw new S3Fault('NotImplemented', 'Bucket keys belong to KMS, which is not supported')
}

function checkBlocks(body: ReadElement): void {
  takeOnly(body, BLOCKS)
  const off = BLOCKS.find((name) => body.textOf(name)?.trim().toLowerCase() !== 'true')
  if (off === undefined) return
  throw new S3Fault(
    'NotImplemented',
    `${off} is not true, which is not supported: nothing here is ever public`,
  )
}
