/**
 * The routes of bucket policies. The body is the policy itself, as the AWS policy language writes it. No rules here.
 */
import Type from 'typebox'
import { deleteTenantBucketPolicy } from '../../operations/bucket-policies/delete-tenant-bucket-policy.ts'
import { getTenantBucketPolicy } from '../../operations/bucket-policies/get-tenant-bucket-policy.ts'
import { setTenantBucketPolicy } from '../../operations/bucket-policies/set-tenant-bucket-policy.ts'
import { BUCKET_POLICY_BYTES_MAX, type BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { ACME_PHOTOS } from '../examples/names.ts'
import { adminRoute } from '../route.ts'
import { changeRoute, removalRoute } from './mutation.ts'
import { PolicyView } from './policy-schema.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'

const PATH = '/tenants/{id}/buckets/{bucket}/policy'

const Count = Type.Integer({ minimum: 0 })

/** More than fit into the bytes of a policy that says something. */
const POLICY_NAMES_MAX = 10_000

export const bucketPolicyRoutes = [
  adminRoute(
    getTenantBucketPolicy,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the policy of a bucket',
      success: {
        status: 200,
        description: 'The policy, as it was set',
        content: { type: 'application/json', schema: PolicyView },
      },
      example: { params: ACME_PHOTOS },
    },
    async (services, principal, { params }) => {
      return { kind: 'json', body: policyView(await getTenantBucketPolicy(services, principal, params)) }
    },
  ),

  changeRoute(
    setTenantBucketPolicy,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Set the policy of a bucket, in place of the one it has',
      description:
        'What a statement denies is denied from the next request on, at every node. One that allows changes nothing: what a key may do is said by its scopes.',
      body: { schema: PolicyView, bytesMax: BUCKET_POLICY_BYTES_MAX, namesMax: POLICY_NAMES_MAX },
      answers: 'The policy, or the plan of a dry run',
      view: PolicyView,
      plan: Type.Object({ replaces: Type.Boolean(), denials: Count, withoutEffect: Count }),
      example: {
        params: ACME_PHOTOS,
        body: {
          Version: '2012-10-17',
          Statement: [
            {
              Sid: 'KeepTheOriginals',
              Effect: 'Deny',
              Principal: '*',
              Action: 's3:DeleteObject*',
              Resource: 'arn:aws:s3:::photos/originals/*',
            },
          ],
        },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        setTenantBucketPolicy(services, principal, { ...params, policy: body }),
      answer: policyView,
      plan: async ({ state }, { params: { id, bucket }, body }) => {
        const statements = Array.isArray(body.Statement) ? body.Statement : []
        const denials = statements.filter(({ Effect }) => Effect === 'Deny').length
        const withoutEffect = statements.length - denials
        const warning = `${withoutEffect} of the statements allow something: a policy widens no scope, so they have no effect`
        return {
          plan: { replaces: bucketPolicyOf(state, id, bucket) !== undefined, denials, withoutEffect },
          warnings: withoutEffect === 0 ? [] : [warning],
          tenantId: id,
        }
      },
    },
  ),

  removalRoute(
    deleteTenantBucketPolicy,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Remove the policy of a bucket; repeating it is no error',
      plan: Type.Object({ removes: Type.Boolean() }),
      example: { params: ACME_PHOTOS },
    },
    {
      run: (services, principal, { params }) => deleteTenantBucketPolicy(services, principal, params),
      plan: async ({ state }, { params: { id, bucket } }) => ({
        plan: { removes: bucketPolicyOf(state, id, bucket) !== undefined },
        warnings: [],
        tenantId: id,
      }),
    },
  ),
]

function policyView({ policy }: BucketPolicyRecord): object {
  return JSON.parse(policy) as object
}
