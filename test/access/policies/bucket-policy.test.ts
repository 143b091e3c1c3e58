/**
 * Which policies are valid: everything else is refused with the place of the error, because an ignored denial would grant access.
 */
import t from 'tap'
import { accessKeysIn, readBucketPolicy } from '../../../src/access/policies/bucket-policy.ts'
import { ALICE, BOB, BUCKET, type Json, PLACE, policy, statement } from './statements.ts'

const read = (value: unknown) => readBucketPolicy(value, PLACE)

t.test('readBucketPolicy takes', async (t) => {
  const good: readonly (readonly [string, Json])[] = [
    ['both versions', { Version: '2008-10-17', Id: 'x', Statement: [statement({ Sid: 'a b' })] }],
    ['no version', { Statement: [statement()] }],
    ['an allowance', policy(statement({ Effect: 'Allow' }))],
    ['all principals by AWS', policy(statement({ Principal: { AWS: '*' } }))],
    [
      'key ids and their names as users',
      policy(statement({ Principal: { AWS: [ALICE, `arn:aws:iam::acme:user/${BOB}`] } })),
    ],
    ['all but some', policy(statement({ Principal: undefined, NotPrincipal: { AWS: ALICE } }))],
    [
      'actions in any case, with wildcards',
      policy(statement({ Action: ['S3:getobject', 's3:Get*', 's3:?etObject'] })),
    ],
    ['every action', policy(statement({ Action: '*', Resource: [BUCKET, `${BUCKET}/*`] }))],
    ['all actions but some', policy(statement({ Action: undefined, NotAction: 's3:GetObject' }))],
    ['all keys but some', policy(statement({ Resource: undefined, NotResource: `${BUCKET}/open/*` }))],
    ['keys in any signs', policy(statement({ Resource: `${BUCKET}/a b/ü?:*` }))],
    ['a hundred statements', policy(...Array.from({ length: 100 }, () => statement()))],
    [
      'conditions of every kind, names of keys in any case',
      policy(
        statement({
          Action: ['s3:ListBucket', 's3:GetObject'],
          Resource: [BUCKET, `${BUCKET}/*`],
          Condition: {
            IpAddress: { 'aws:sourceip': ['10.0.0.0/8', '2001:db8::1'] },
            NotIpAddressIfExists: { 'AWS:SourceIp': '10.1.2.3' },
            StringLike: { 's3:prefix': ['in/*', ''] },
            StringNotEqualsIfExists: { 's3:delimiter': '/', 's3:VersionId': 'null', 'aws:username': BOB },
            Bool: { 'aws:SecureTransport': false },
            DateLessThanEquals: { 'aws:CurrentTime': '2028-02-29T00:00:00Z' },
            Null: { 's3:prefix': 'true' },
          },
        }),
      ),
    ],
  ]
  for (const [what, value] of good) t.doesNotThrow(() => read(value), what)
  t.same(accessKeysIn(read(good[4]?.[1])), new Set([ALICE, BOB]))
  t.same(accessKeysIn(read(policy(statement()))), new Set())
})

const conditioned = (Condition: unknown, more: Json = {}) => policy(statement({ Condition, ...more }))
const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  [[], /it must be a JSON object/],
  [null, /it must be a JSON object/],
  [{}, /"Statement" must be a list/],
  [
    { ...policy(statement()), Statment: [] },
    /member "Statment", which is unknown here: did you mean "Statement"/,
  ],
  [{ ...policy(statement()), Version: '2012-10-18' }, /"Version" must be one of 2012-10-17, 2008-10-17/],
  [{ ...policy(statement()), Id: 7 }, /"Id" must be a text/],
  [{ Statement: statement() }, /"Statement" must be a list/],
  [policy(), /has 0 statements: give 1 to 100/],
  [policy(...Array.from({ length: 101 }, () => statement())), /has 101 statements/],
  [policy(statement({ Sid: 'x'.repeat(20_480) })), /has \d+ bytes as JSON, at most 20480/],
  [policy(statement({ Sid: 'a' }), statement({ Sid: 'a' })), /"Statement.1.Sid" is "a", as that of another/],
  [policy(statement({ Sid: 1 })), /"Statement.0.Sid" must be a text/],
  [{ Statement: ['x'] }, /"Statement.0" must be a JSON object/],
  [policy(statement({ Resorce: 'x' })), /"Statement.0" has the member "Resorce"/],
  [policy(statement({ Effect: 'deny' })), /"Statement.0.Effect" must be "Allow" or "Deny"/],
  [policy(statement({ Effect: undefined })), /"Statement.0.Effect" must be/],
  [policy(statement({ Principal: undefined })), /needs one of "Principal" and "NotPrincipal"/],
  [policy(statement({ NotPrincipal: '*' })), /needs one of "Principal" and "NotPrincipal"/],
  [policy(statement({ Principal: ALICE })), /Principal" must be "\*", or an object/],
  [policy(statement({ Principal: { Service: 'x' } })), /Principal" has the member "Service"/],
  [policy(statement({ Principal: { AWS: [] } })), /is an empty list: it would match nothing/],
  [
    policy(statement({ Principal: { AWS: 'AK*' } })),
    /names "AK\*": give "\*", an access key id, or arn:aws:iam::acme:user/,
  ],
  [
    policy(statement({ Principal: { AWS: 'arn:aws:iam::rival:user/AKX' } })),
    /names "arn:aws:iam::rival:user\/AKX"/,
  ],
  [
    policy(statement({ Principal: { AWS: 'arn:aws:iam::acme:user/*' } })),
    /names "arn:aws:iam::acme:user\/\*"/,
  ],
  [policy(statement({ Principal: { AWS: 'arn:aws:iam::acme:root' } })), /names "arn:aws:iam::acme:root"/],
  [
    policy(statement({ Action: 's3:GetObjct' })),
    /names "s3:GetObjct", which is no action here: did you mean "s3:GetObject"/,
  ],
  [policy(statement({ Action: 's3:GetObjectTorrent' })), /names "s3:GetObjectTorrent"/],
  [policy(statement({ Action: 's3:Xyz*' })), /names "s3:Xyz\*"/],
  [policy(statement({ Action: 'ec2:*' })), /names "ec2:\*"/],
  [policy(statement({ Action: ['s3:GetObject', 7] })), /"Statement.0.Action.1" must be a text/],
  [policy(statement({ NotAction: 's3:GetObject' })), /needs one of "Action" and "NotAction"/],
  [policy(statement({ Resource: '*' })), /names "\*": give "arn:aws:s3:::photos" for the bucket/],
  [policy(statement({ Resource: 'arn:aws:s3:::photo*' })), /names "arn:aws:s3:::photo\*"/],
  [policy(statement({ Resource: 'arn:aws:s3:::photos2/*' })), /names "arn:aws:s3:::photos2/],
  [policy(statement({ Resource: `${BUCKET}/` })), /names "arn:aws:s3:::photos\/"/],
  [policy(statement({ Resource: `${BUCKET}/\${aws:username}/*` })), /holds a variable/],
  [
    policy(statement({ Resource: BUCKET })),
    /names "s3:getobject", which is done to nothing that "Resource" names/,
  ],
  [
    policy(statement({ Resource: [BUCKET, `${BUCKET}/*`] })),
    /Resource" names the bucket, to which no action/,
  ],
  [
    policy(statement({ Action: 's3:ListBucket', Resource: [BUCKET, `${BUCKET}/*`] })),
    /names keys, to which no action/,
  ],
  [
    policy(statement({ Resource: `${BUCKET}/*${'x'.repeat(1000)}` })),
    /of 1001 characters in all, at most 1000/,
  ],
  [
    conditioned(
      { StringLike: { 's3:prefix': `*${'x'.repeat(1000)}` } },
      { Action: 's3:ListBucket', Resource: BUCKET },
    ),
    /of 1001 characters in all/,
  ],
  [conditioned([]), /Condition" must be a JSON object/],
  [conditioned({ StringEquals: 'x' }), /Condition.StringEquals" must be a JSON object/],
  [
    conditioned({ StringEqual: { 'aws:username': 'x' } }),
    /operator "StringEqual", which is not supported: did you mean "StringEquals"/,
  ],
  [conditioned({ toString: { 'aws:username': 'x' } }), /operator "toString"/],
  [
    conditioned({ 'ForAnyValue:StringEquals': { 'aws:username': 'x' } }),
    /operator "ForAnyValue:StringEquals"/,
  ],
  [conditioned({ NullIfExists: { 'aws:username': 'true' } }), /cannot be compared|operator "Null"/],
  [conditioned({ IfExists: { 'aws:username': 'x' } }), /operator ""/],
  [
    conditioned({ StringEquals: { 's3:ExistingObjectTag/x': 'y' } }),
    /names the key "s3:ExistingObjectTag\/x", which is not supported/,
  ],
  [conditioned({ StringEquals: { 'aws:UserAgent': 'y' } }), /names the key "aws:UserAgent"/],
  [conditioned({ StringEquals: { 'aws:username': [] } }), /is an empty list/],
  [conditioned({ StringEquals: { 'aws:username': 7 } }), /takes a text without "\$\{", not "7"/],
  [conditioned({ StringEquals: { 'aws:username': '${aws:userid}' } }), /takes a text without/],
  [
    conditioned({ StringEquals: { 'aws:SourceIp': '10.0.0.1' } }),
    /cannot be compared by "StringEquals": it takes an address/,
  ],
  [conditioned({ IpAddress: { 'aws:username': '10.0.0.1' } }), /cannot be compared by "IpAddress"/],
  ...[
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    '10.0.0.1/8/8',
    'fe80::1%eth0',
    '',
    '10.0.0.0/-1',
    '10.0.0.0/',
  ].map(
    (range) =>
      [conditioned({ IpAddress: { 'aws:SourceIp': range } }), /takes an address or a range/] as const,
  ),
  ...[
    '2027-02-30T00:00:00Z',
    '2027-01-01',
    '1798761600',
    '2027-01-01T00:00:00+01:00',
    '2027-13-01T00:00:00Z',
  ].map(
    (time) => [conditioned({ DateLessThan: { 'aws:CurrentTime': time } }), /takes a time in UTC/] as const,
  ),
  [conditioned({ Bool: { 'aws:SecureTransport': 'no' } }), /takes true or false/],
  [conditioned({ Null: { 'aws:username': ['true', 'false'] } }), /takes true or false/],
  [
    conditioned({ StringEquals: { 's3:prefix': 'x' } }),
    /is asked for by none of the actions of the statement/,
  ],
  [
    conditioned({ StringEquals: { 's3:VersionId': 'x' } }, { Action: 's3:PutObject' }),
    /is asked for by none of the actions/,
  ],
]

t.test(
  'readBucketPolicy refuses with invalid_request, naming the place [policies.closed] [policies.bounds]',
  async (t) => {
    for (const [value, message] of REFUSED)
      t.throws(() => read(value), { code: 'invalid_request', message }, JSON.stringify(value)?.slice(0, 200))
  },
)
