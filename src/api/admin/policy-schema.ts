/**
 * What the document says of a bucket policy: as much of its language as JSON Schema can say.
 *
 * Owns: the form of statements. Knows nothing of: which bucket a resource names, which keys a tenant has, and which actions match a
 * wildcard; the parser asks for those and names the place of a fault. Rule: the parser refuses whatever this forbids.
 */
import Type, { type TSchemaOptions } from 'typebox'
import { POLICY_VERSIONS, STATEMENTS_MAX } from '../../access/policies/bucket-policy.ts'
import { CONDITION_OPERATORS } from '../../access/policies/conditions.ts'
import { BUCKET_POLICY_BYTES_MAX } from '../../state-machine/buckets/records.ts'
import { documented } from '../documented.ts'

const oneOrMore = (item: TSchemaOptions): TSchemaOptions => ({
  anyOf: [item, { type: 'array', minItems: 1, items: item }],
})
const texts = (pattern: string): TSchemaOptions => oneOrMore({ type: 'string', pattern })
const closed = (properties: TSchemaOptions): TSchemaOptions => ({
  type: 'object',
  properties,
  additionalProperties: false,
})
const eitherOf = (...names: readonly string[]): TSchemaOptions => ({
  oneOf: names.map((name) => ({ required: [name] })),
})

const PRINCIPAL: TSchemaOptions = {
  anyOf: [
    { const: '*' },
    {
      ...closed({ AWS: texts('^(\\*|(arn:aws:iam::[a-z0-9-]{2,63}:user/)?[A-Z0-9]{1,64})$') }),
      required: ['AWS'],
    },
  ],
}
const ACTION = texts('^(\\*|[sS]3:[A-Za-z*?]+)$')
/** The bucket, or keys in it; no variable. */
const RESOURCE = texts('^arn:aws:s3:::[a-z0-9.-]{3,63}(/(([^$]|\\$+[^${])+\\$*|\\$+))?$')
const CONDITION: TSchemaOptions = {
  type: 'object',
  propertyNames: { enum: [...CONDITION_OPERATORS] },
  additionalProperties: {
    type: 'object',
    propertyNames: { pattern: '^([aA][wW][sS]|[sS]3):[A-Za-z-]+$' },
    additionalProperties: oneOrMore({
      anyOf: [{ type: 'string' }, { type: 'boolean' }, { type: 'number' }],
    }),
  },
}

const STATEMENT: TSchemaOptions = {
  ...closed({
    Sid: { type: 'string', description: 'No other statement of the policy has it' },
    Effect: { enum: ['Allow', 'Deny'] },
    Principal: PRINCIPAL,
    NotPrincipal: PRINCIPAL,
    Action: ACTION,
    NotAction: ACTION,
    Resource: RESOURCE,
    NotResource: RESOURCE,
    Condition: CONDITION,
  }),
  required: ['Effect'],
  allOf: [
    eitherOf('Principal', 'NotPrincipal'),
    eitherOf('Action', 'NotAction'),
    eitherOf('Resource', 'NotResource'),
  ],
}

/** What stands inside of a statement is read by the parser, which names the place of a fault. */
export const PolicyView = Type.Object(
  {
    Version: Type.Optional(
      Type.Unknown({
        description: '2012-10-17 or 2008-10-17; they mean the same here',
        ...documented({ enum: [...POLICY_VERSIONS] }),
      }),
    ),
    Id: Type.Optional(Type.Unknown({ description: 'A text', ...documented({ type: 'string' }) })),
    Statement: Type.Unknown({
      description:
        'What is denied, and to whom. Resources are the bucket of the path and keys in it; an access key is one of the tenant; each action and condition fits what the statement is about',
      ...documented({ type: 'array', minItems: 1, maxItems: STATEMENTS_MAX, items: STATEMENT }),
    }),
  },
  {
    description: `At most ${BUCKET_POLICY_BYTES_MAX} bytes`,
    ...documented({ additionalProperties: false }),
  },
)
