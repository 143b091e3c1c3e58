/**
 * The routes of the S3 API of a bucket's policy. The body is the policy itself, as the AWS policy language writes it.
 */
import {
  deleteBucketPolicy,
  getBucketPolicy,
  getBucketPolicyStatus,
} from '../../../operations/bucket-policies/own-bucket-policy.ts'
import { setBucketPolicy } from '../../../operations/bucket-policies/set-bucket-policy.ts'
import { BUCKET_POLICY_BYTES_MAX } from '../../../state-machine/buckets/records.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Call, type S3Facts, type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { element } from '../xml/write-xml.ts'

/** More than fit into the bytes of a policy that says something. */
const POLICY_NAMES_MAX = 10_000
/** White space may make a text longer than what is kept of it. */
const BODY_BYTES_MAX = 4 * BUCKET_POLICY_BYTES_MAX
const MALFORMED: NonNullable<S3Facts['codes']> = {
  invalid_request: 'MalformedPolicy',
  invalid_json: 'MalformedPolicy',
}

export const bucketPolicyRoutes: readonly S3Route[] = [
  s3Route(
    getBucketPolicy,
    { action: 'GetBucketPolicy', method: 'GET', level: 'bucket', marks: ['policy'] },
    async (services, principal, { bucket }) => {
      const { policy } = await getBucketPolicy(services, principal, { bucket })
      return { kind: 'text', contentType: 'application/json', text: policy }
    },
  ),

  s3Route(
    setBucketPolicy,
    {
      action: 'PutBucketPolicy',
      method: 'PUT',
      level: 'bucket',
      marks: ['policy'],
      headers: ['x-amz-confirm-remove-self-bucket-access'],
      body: { kind: 'json', bytesMax: BODY_BYTES_MAX, namesMax: POLICY_NAMES_MAX },
      status: 204,
      codes: MALFORMED,
      note: 'Statements deny; one that allows widens no scope, and one that allows something to every caller is refused with AccessDenied.',
    },
    async (services, principal, call) => {
      const policy = policyIn(call)
      await setBucketPolicy(services, principal, { bucket: call.bucket, policy })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    deleteBucketPolicy,
    { action: 'DeleteBucketPolicy', method: 'DELETE', level: 'bucket', marks: ['policy'], status: 204 },
    async (services, principal, { bucket }) => {
      await deleteBucketPolicy(services, principal, { bucket })
      return { kind: 'empty' }
    },
  ),

  s3Route(
    getBucketPolicyStatus,
    {
      action: 'GetBucketPolicyStatus',
      method: 'GET',
      level: 'bucket',
      marks: ['policyStatus'],
      note: 'Never public, also without a policy.',
    },
    async (services, principal, { bucket }) => {
      const { isPublic } = await getBucketPolicyStatus(services, principal, { bucket })
      return xmlAnswer(element('PolicyStatus', element('IsPublic', `${isPublic}`)))
    },
  ),
]

/** Throws S3Fault MalformedPolicy. */
function policyIn({ json }: S3Call): object {
  if (typeof json === 'object' && json !== null) return json
  throw new S3Fault('MalformedPolicy', 'The body is no bucket policy: expected a JSON object')
}
