/**
 * The scope of a statement, case by case, by the AWS documentation of policy evaluation and of condition operators.
 */
import t from 'tap'
import { readBucketPolicy } from '../../../src/access/policies/bucket-policy.ts'
import { denyingStatement, type PolicyQuestion } from '../../../src/access/policies/evaluation.ts'
import { ALICE, BOB, BUCKET, type Json, PLACE, policy, question, statement } from './statements.ts'

type Case = readonly [what: string, statement: Json, asked: Partial<PolicyQuestion>, isDenied: boolean]

const LIST: Partial<PolicyQuestion> = { actions: ['s3:ListBucket'], key: null }
const listed = (prefix: string | undefined): Partial<PolicyQuestion> => ({
  ...LIST,
  attributes: { 's3:prefix': prefix },
})
const from = (address: string | undefined): Partial<PolicyQuestion> => ({
  attributes: { 'aws:SourceIp': address },
})
const noPrefix = { Action: 's3:ListBucket', Resource: BUCKET }
const on = (operator: string, key: string, value: unknown): Json => ({
  Condition: { [operator]: { [key]: value } },
})
const onPrefix = (operator: string, value: unknown): Json => ({
  ...noPrefix,
  ...on(operator, 's3:prefix', value),
})
const AT = 'aws:CurrentTime'
const DAYS = 's3:object-lock-remaining-retention-days'
const byDays = (operator: string, value: unknown): Json =>
  statement({ Action: 's3:PutObjectRetention', ...on(operator, DAYS, value) })
const forDays = (days: string | undefined): Partial<PolicyQuestion> => ({
  actions: ['s3:PutObjectRetention'],
  attributes: { [DAYS]: days },
})

const CASES: readonly Case[] = [
  ['a denial denies', statement(), {}, true],
  ['an allowance denies no principal', statement({ Effect: 'Allow' }), {}, false],
  ['nor a principal that it omits', statement({ Effect: 'Allow', Principal: { AWS: BOB } }), {}, false],
  ['* matches every principal', statement({ Principal: { AWS: ['*'] } }), { accessKeyId: BOB }, true],
  ['a principal is the one named', statement({ Principal: { AWS: ALICE } }), {}, true],
  [
    'by its name as a user too',
    statement({ Principal: { AWS: `arn:aws:iam::acme:user/${ALICE}` } }),
    {},
    true,
  ],
  ['and no other', statement({ Principal: { AWS: BOB } }), {}, false],
  [
    'NotPrincipal exempts the named principal',
    statement({ Principal: undefined, NotPrincipal: { AWS: ALICE } }),
    {},
    false,
  ],
  ['and applies to all others', statement({ Principal: undefined, NotPrincipal: { AWS: BOB } }), {}, true],
  ['another action', statement(), { actions: ['s3:PutObject'] }, false],
  ['actions in any case', statement({ Action: 'S3:GETOBJECT' }), {}, true],
  ['s3:*', statement({ Action: 's3:*' }), { actions: ['s3:DeleteObject'] }, true],
  ['s3:Get*', statement({ Action: 's3:Get*' }), { actions: ['s3:GetObjectTagging'] }, true],
  ['NotAction exempts the named action', statement({ Action: undefined, NotAction: 's3:Get*' }), {}, false],
  ['and applies to all others', statement({ Action: undefined, NotAction: 's3:Put*' }), {}, true],
  ['one of two names is enough', statement(), { actions: ['s3:GetObject', 's3:GetObjectVersion'] }, true],
  ['keys are compared with regard to case', statement({ Resource: `${BUCKET}/IN/*` }), {}, false],
  ['a key by its name', statement({ Resource: `${BUCKET}/in/a` }), {}, true],
  ['a key is no prefix', statement({ Resource: `${BUCKET}/in` }), {}, false],
  ['* passes over slashes', statement({ Resource: `${BUCKET}/*a` }), {}, true],
  ['keys are not the bucket', statement({ Action: 's3:*' }), LIST, false],
  ['the bucket is not its keys', statement({ Action: 's3:*', Resource: BUCKET }), {}, false],
  ['NotResource spares keys', statement({ Resource: undefined, NotResource: `${BUCKET}/in/*` }), {}, false],
  [
    'and applies to the bucket',
    statement({ Action: 's3:*', Resource: undefined, NotResource: `${BUCKET}/*` }),
    LIST,
    true,
  ],
  [
    'and applies to keys where it exempts the bucket',
    statement({ Action: 's3:*', Resource: undefined, NotResource: BUCKET }),
    {},
    true,
  ],

  ['fewer days are less', byDays('NumericLessThan', '10'), forDays('9'), true],
  ['as many days are not less', byDays('NumericLessThan', '10'), forDays('10'), false],
  ['numbers are not compared as texts', byDays('NumericLessThan', '10'), forDays('9.5'), true],
  ['as many days are no more than that', byDays('NumericLessThanEquals', 10), forDays('10'), true],
  ['more days are greater', byDays('NumericGreaterThan', 30), forDays('100'), true],
  ['as many days are not greater', byDays('NumericGreaterThan', 30), forDays('30'), false],
  ['as many days are no fewer', byDays('NumericGreaterThanEquals', '30'), forDays('30'), true],
  ['a number equals itself however it is written', byDays('NumericEquals', '30.0'), forDays('30'), true],
  ['one of several numbers', byDays('NumericEquals', ['1', 30]), forDays('30'), true],
  ['none of several numbers', byDays('NumericNotEquals', ['1', '30']), forDays('30'), false],
  ['no retention is not less', byDays('NumericLessThan', '10'), forDays(undefined), false],
  ['with IfExists it is', byDays('NumericLessThanIfExists', '10'), forDays(undefined), true],
  ['Null asks for a retention', byDays('Null', 'true'), forDays(undefined), true],

  ['a range contains its addresses', statement(on('IpAddress', 'aws:SourceIp', '192.0.2.0/24')), {}, true],
  ['and nothing else', statement(on('IpAddress', 'aws:SourceIp', '192.0.2.0/24')), from('192.0.3.1'), false],
  [
    'one of several ranges',
    statement(on('IpAddress', 'aws:SourceIp', ['10.0.0.0/8', '192.0.2.1'])),
    {},
    true,
  ],
  ['outside of all', statement(on('NotIpAddress', 'aws:SourceIp', ['10.0.0.0/8', '192.0.2.1'])), {}, false],
  ['outside', statement(on('NotIpAddress', 'aws:SourceIp', '10.0.0.0/8')), {}, true],
  [
    'an IPv4 address as IPv6',
    statement(on('IpAddress', 'aws:SourceIp', '192.0.2.0/24')),
    from('::ffff:192.0.2.9'),
    true,
  ],
  ['IPv6', statement(on('IpAddress', 'aws:SourceIp', '2001:db8::/32')), from('2001:db8:1::1'), true],
  [
    'no address is in no range',
    statement(on('IpAddress', 'aws:SourceIp', '0.0.0.0/0')),
    from(undefined),
    false,
  ],
  ['and outside of all', statement(on('NotIpAddress', 'aws:SourceIp', '0.0.0.0/0')), from(undefined), true],

  ['equal', statement(onPrefix('StringEquals', ['x', 'in/'])), listed('in/'), true],
  ['equal to none', statement(onPrefix('StringEquals', ['x', 'in/'])), listed('in'), false],
  [
    'letters are compared with regard to case',
    statement(onPrefix('StringEquals', 'IN/')),
    listed('in/'),
    false,
  ],
  ['* is no wildcard in StringEquals', statement(onPrefix('StringEquals', 'in/*')), listed('in/a'), false],
  ['not equal to any', statement(onPrefix('StringNotEquals', ['x', 'in/'])), listed('in/'), false],
  ['not equal', statement(onPrefix('StringNotEquals', ['x', 'in/'])), listed('out/'), true],
  ['like', statement(onPrefix('StringLike', ['x', 'in/*'])), listed('in/a'), true],
  ['not like', statement(onPrefix('StringNotLike', 'in/*')), listed('out/'), true],
  ['not like, but it is', statement(onPrefix('StringNotLike', 'in/*')), listed('in/'), false],
  ['an absent key matches nothing', statement(onPrefix('StringLike', '*')), listed(undefined), false],
  ['and differs from everything', statement(onPrefix('StringNotLike', '*')), listed(undefined), true],
  ['IfExists holds without it', statement(onPrefix('StringEqualsIfExists', 'in/')), listed(undefined), true],
  [
    'and compares where the key is present',
    statement(onPrefix('StringEqualsIfExists', 'in/')),
    listed('out/'),
    false,
  ],
  ['no prefix is an empty one', statement(onPrefix('StringEquals', '')), listed(''), true],
  ['an empty prefix is none', statement(onPrefix('Null', 'true')), listed(''), true],
  ['Null true: it must be absent', statement(onPrefix('Null', true)), listed('in/'), false],
  ['Null false: it must be there', statement(onPrefix('Null', 'false')), listed('in/'), true],

  ['by name', statement(on('StringEquals', 'aws:username', ALICE)), {}, true],
  ['by another name', statement(on('StringEquals', 'aws:username', BOB)), {}, false],
  ['a request without TLS', statement(on('Bool', 'aws:SecureTransport', 'false')), {}, true],
  ['one with it', statement(on('Bool', 'aws:SecureTransport', true)), {}, false],
  ['before', statement(on('DateLessThan', AT, '2027-01-01T00:00:01Z')), {}, true],
  ['not before', statement(on('DateLessThan', AT, '2027-01-01T00:00:00Z')), {}, false],
  ['at the latest', statement(on('DateLessThanEquals', AT, '2027-01-01T00:00:00Z')), {}, true],
  ['after', statement(on('DateGreaterThan', AT, '2026-12-31T23:59:59Z')), {}, true],
  ['not after', statement(on('DateGreaterThan', AT, '2027-01-01T00:00:00Z')), {}, false],
  ['at the earliest', statement(on('DateGreaterThanEquals', AT, '2027-01-01T00:00:00Z')), {}, true],
  [
    'all operators must hold',
    statement({
      Condition: { Bool: { 'aws:SecureTransport': false }, StringEquals: { 'aws:username': BOB } },
    }),
    {},
    false,
  ],
  [
    'all keys of an operator must hold',
    statement({ ...noPrefix, Condition: { StringEquals: { 's3:prefix': 'in/', 's3:delimiter': '/' } } }),
    { ...LIST, attributes: { 's3:prefix': 'in/', 's3:delimiter': '-' } },
    false,
  ],
  [
    'a version by its id',
    statement({ Action: 's3:GetObjectVersion', ...on('StringEquals', 's3:VersionId', 'v1') }),
    { actions: ['s3:GetObject', 's3:GetObjectVersion'], attributes: { 's3:VersionId': 'v1' } },
    true,
  ],
]

t.test(
  'denies [policies.principals] [policies.actions] [policies.resources] [policies.conditions]',
  async (t) => {
    for (const [what, one, asked, expected] of CASES)
      t.equal(denyingStatement(readBucketPolicy(policy(one), PLACE), question(asked)) >= 0, expected, what)
  },
)

t.test('a denial is final at any place among allowances [policies.deny-first]', async (t) => {
  const all = statement({ Effect: 'Allow', Action: 's3:*', Resource: [BUCKET, `${BUCKET}/*`] })
  for (const statements of [
    [all, statement()],
    [statement(), all],
    [all, statement(), all],
  ])
    t.ok(denyingStatement(readBucketPolicy(policy(...statements), PLACE), question()) >= 0)
  t.equal(denyingStatement(readBucketPolicy(policy(all, all), PLACE), question()), -1)
})
