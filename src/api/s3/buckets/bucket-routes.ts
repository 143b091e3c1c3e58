/**
 * The routes of the S3 API of buckets themselves: create, look, delete, where they lie, versioning.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { getBucket, getBucketVersioning } from '../../../operations/buckets/bucket-lookups.ts'
import { createBucket } from '../../../operations/buckets/create-bucket.ts'
import { deleteBucket } from '../../../operations/buckets/delete-bucket.ts'
import { getBucketLocation, getBucketPayer } from '../../../operations/buckets/fixed-settings.ts'
import { setBucketVersioning } from '../../../operations/buckets/set-bucket-versioning.ts'
import { Refusal } from '../../../base/refusal.ts'
import { headerText } from '../../header-text.ts'
import type { ProblemCode } from '../../problem.ts'
import { checkPrivateAcl } from './acl-routes.ts'
import { checkOwnership } from './bucket-access-routes.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Route, s3Route } from '../base/s3-route.ts'
import {
  IDENTITY_HEADER,
  identityText,
  SOURCE_HEADER,
  sourceNameIn,
} from '../../../state-machine/sites/mark.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { bodyOf, configurationBody, oneOf, takeOnly } from '../base/xml-fields.ts'
import type { ReadElement } from '../xml/read-xml.ts'
import { element } from '../xml/write-xml.ts'

/**
 * Its name in answers is an empty one, from the time when S3 had no other region; and there, as nowhere else, a bucket that its owner creates again stays
 * as it is. [AWS S3 API: CreateBucket, BucketAlreadyOwnedByYou]
 */
const CLASSIC_REGION = 'us-east-1'
const REGION = /^[A-Za-z0-9-]{1,64}$/
const OBJECT_LOCK = 'x-amz-bucket-object-lock-enabled'
const OWNERSHIP = 'x-amz-object-ownership'

export const bucketRoutes: readonly S3Route[] = [
  s3Route(
    createBucket,
    {
      action: 'CreateBucket',
      method: 'PUT',
      level: 'bucket',
      headers: ['x-amz-acl', OBJECT_LOCK, OWNERSHIP, SOURCE_HEADER],
      body: configurationBody('CreateBucketConfiguration', false),
      note: 'Any LocationConstraint is accepted; the bucket lies where the cluster does, and GetBucketLocation says `security.s3_region`. In us-east-1 a bucket of the tenant that is there already stays as it is, elsewhere that is BucketAlreadyOwnedByYou. Everything is private and owned by the tenant.',
    },
    async (services, principal, { bucket: name, headers, xml }) => {
      checkPrivateAcl(headers, 'bucket')
      const ownership = headerText(headers, OWNERSHIP)
      if (ownership !== undefined) checkOwnership(ownership)
      if (xml !== null) checkConfiguration(xml)
      const objectLockEnabled = wantsObjectLock(headers)
      const replicaOf = sourceIn(headers)
      const made = { name, objectLockEnabled, ...(replicaOf === null ? {} : { replicaOf }) }
      const isLenient = services.config.security.s3Region === CLASSIC_REGION && !objectLockEnabled
      await createBucket(services, principal, made).catch((error: unknown) => {
        if (!isLenient || !isRefusal(error, 'bucket_already_exists')) throw error
      })
      return { kind: 'empty', headers: { location: `/${name}` } }
    },
  ),

  s3Route(
    getBucket,
    { action: 'HeadBucket', method: 'HEAD', level: 'bucket' },
    async (services, principal, { bucket }) => {
      const { id: bucketId } = await getBucket(services, principal, { bucket })
      const { clusterId } = services.cluster
      const { s3Region } = services.config.security
      return {
        kind: 'empty',
        headers: {
          'x-amz-bucket-region': s3Region,
          'x-amz-access-point-alias': 'false',
          // By it another site knows whose bucket this is.
          [IDENTITY_HEADER]: identityText({ clusterId, bucketId }),
        },
      }
    },
  ),

  s3Route(
    deleteBucket,
    {
      action: 'DeleteBucket',
      method: 'DELETE',
      level: 'bucket',
      status: 204,
      note: 'Unfinished uploads end with a bucket that holds nothing else; the native API keeps the bucket.',
    },
    async (services, principal, { bucket }) => {
      await deleteBucket(services, principal, { bucket, endsUploads: true })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getBucketLocation,
    { action: 'GetBucketLocation', method: 'GET', level: 'bucket', marks: ['location'] },
    async (services, principal, { bucket }) => {
      await getBucketLocation(services, principal, { bucket })
      const { s3Region } = services.config.security
      return xmlAnswer(element('LocationConstraint', s3Region !== CLASSIC_REGION && s3Region))
    },
  ),

  s3Route(
    getBucketVersioning,
    { action: 'GetBucketVersioning', method: 'GET', level: 'bucket', marks: ['versioning'] },
    async (services, principal, { bucket }) => {
      const { versioning } = await getBucketVersioning(services, principal, { bucket })
      const status = versioning !== 'Unversioned' && element('Status', versioning)
      return xmlAnswer(element('VersioningConfiguration', status))
    },
  ),

  s3Route(
    setBucketVersioning,
    {
      action: 'PutBucketVersioning',
      method: 'PUT',
      level: 'bucket',
      marks: ['versioning'],
      body: configurationBody('VersioningConfiguration'),
      note: 'MFA delete is refused by name.',
    },
    async (services, principal, call) => {
      const body = bodyOf(call)
      takeOnly(body, ['Status', 'MfaDelete'])
      const mfaDelete = body.textOf('MfaDelete')?.trim() ?? 'Disabled'
      if (mfaDelete !== 'Disabled') throw new S3Fault('NotImplemented', 'MfaDelete is not supported')
      if (body.child('Status') === null)
        throw new S3Fault(
          'IllegalVersioningConfigurationException',
          'The versioning configuration has no Status',
        )
      const status = oneOf(body, 'Status', ['Enabled', 'Suspended'])
      await setBucketVersioning(services, principal, { bucket: call.bucket, status })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getBucketPayer,
    {
      action: 'GetBucketRequestPayment',
      method: 'GET',
      level: 'bucket',
      marks: ['requestPayment'],
      note: 'Always BucketOwner.',
    },
    async (services, principal, { bucket }) => {
      await getBucketPayer(services, principal, { bucket })
      return xmlAnswer(element('RequestPaymentConfiguration', element('Payer', 'BucketOwner')))
    },
  ),
]

/** Throws S3Fault InvalidLocationConstraint; NotImplemented for what else it may ask for. */
function checkConfiguration(xml: ReadElement): void {
  takeOnly(xml, ['LocationConstraint'])
  const location = xml.textOf('LocationConstraint')?.trim() ?? ''
  if (location === '' || REGION.test(location)) return
  throw new S3Fault(
    'InvalidLocationConstraint',
    `The location constraint "${location.slice(0, 80)}" is no name of a region`,
  )
}

const isRefusal = (error: unknown, code: ProblemCode): boolean =>
  error instanceof Refusal && error.code === code

/** Throws S3Fault InvalidArgument. */
function wantsObjectLock(headers: IncomingHttpHeaders): boolean {
  const text = headerText(headers, OBJECT_LOCK)?.toLowerCase() ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw new S3Fault('InvalidArgument', `${OBJECT_LOCK} is "${text.slice(0, 80)}": expected true or false`)
}

/** Whose replication makes the bucket. Null: a client does. Throws S3Fault InvalidArgument. */
function sourceIn(headers: IncomingHttpHeaders): string | null {
  const text = headerText(headers, SOURCE_HEADER)
  if (text === undefined) return null
  if (sourceNameIn(text) !== null) return text
  const elements = { ArgumentName: SOURCE_HEADER, ArgumentValue: text.slice(0, 80) }
  throw new S3Fault(
    'InvalidArgument',
    `${SOURCE_HEADER} is not the id of a cluster and the name of a bucket: it is set by replication alone`,
    { elements },
  )
}
