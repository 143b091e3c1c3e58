/**
 * What the document of the admin plane says that the server refuses, it refuses, and it says so of what was found to be refused: each
 * case was once a request about which the two differed.
 */
import t from 'tap'
import { ApiDocument } from '../helpers/api-document.ts'
import { ApiWorld } from './api-world.ts'

const document = new ApiDocument('admin')
const reason = 'tests'
const STATEMENT = { Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: 'arn:aws:s3:::photos/*' }
const NEWCOMER = { nodeId: 'n4', peerAddress: '10.0.0.4:9002' }

type Case = readonly [operation: string, body: object, code: string]

const policy = (statement: object, more: object = {}): object => ({
  Statement: [{ ...STATEMENT, ...statement }],
  ...more,
})
const without = (name: string): object => ({ ...STATEMENT, [name]: undefined })

const FORBIDDEN: readonly Case[] = [
  ['setTenantLimits', {}, 'invalid_request'],
  ['setTenantQuota', {}, 'invalid_request'],
  ['createTenantKey', { clientCertificates: ['0'] }, 'invalid_argument'],
  ['createTenantKey', { clientCertificates: [`sha256:${'0'.repeat(63)}`] }, 'invalid_argument'],
  ['createTenantKey', { clientCertificates: ['cn:a\u0007'] }, 'invalid_argument'],
  ['createTenantKey', { allowedAddresses: ['10.0.0.256'] }, 'invalid_argument'],
  ['createTenantKey', { allowedAddresses: ['10.0.0.0/08'] }, 'invalid_argument'],
  ['createTenantKey', { scopes: 'read,,write' }, 'invalid_argument'],
  ['createTenantKey', { scopes: 'readwrite' }, 'invalid_argument'],
  ['createTenantKey', { scopes: 'read,op=read:bucket=*:prefix=' }, 'invalid_argument'],
  ['createTenantKey', { expiresAt: '2099-02-30' }, 'invalid_request'],
  ['joinVoter', { ...NEWCOMER, reason: ' ' }, 'reason_required'],
  ['joinVoter', { ...NEWCOMER, nodeId: 'n 4', reason }, 'invalid_request'],
  ['joinVoter', { ...NEWCOMER, peerAddress: '10.0.0.4:65536', reason }, 'invalid_request'],
  ['demoteVoter', { reason: '' }, 'reason_required'],
  ['markVoterLost', { reason: '', confirm: 'n3' }, 'reason_required'],
  ['removeMember', { reason: '', confirm: 'n3' }, 'reason_required'],
  ['replaceVoter', { reason: '', confirm: 'n3', replacement: NEWCOMER }, 'reason_required'],
  ['setTenantBucketPolicy', { Statement: 0 }, 'invalid_request'],
  ['setTenantBucketPolicy', { Statement: [] }, 'invalid_request'],
  ['setTenantBucketPolicy', { Statement: [0] }, 'invalid_request'],
  ['setTenantBucketPolicy', policy({}, { Version: '2020-01-01' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({}, { Id: 0 }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({}, { Statements: [] }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Effect: 'deny' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Sid: 0 }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Actions: 's3:*' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ NotPrincipal: '*' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy(without('Action')), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Principal: 'AKIA' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Principal: { AWS: [] } }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Action: 'PutObject' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Resource: 'photos/*' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Resource: 'arn:aws:s3:::photos/${aws:username}' }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Condition: { StringEqual: {} } }), 'invalid_request'],
  ['setTenantBucketPolicy', policy({ Condition: { StringEquals: { prefix: 'a' } } }), 'invalid_request'],
  [
    'setTenantBucketPolicy',
    policy({ Condition: { Bool: { 'aws:SecureTransport': [] } } }),
    'invalid_request',
  ],
]

const PARAMS: Readonly<Record<string, string>> = { id: 'acme', bucket: 'photos', nodeId: 'n3' }

t.test('what the document forbids in a body is refused, though only rehearsed', async (t) => {
  const { world } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  for (const [operation, body, code] of FORBIDDEN) {
    const named = `${operation} ${JSON.stringify(body).slice(0, 120)}`
    const { path: template, method } = document.operation(operation)
    const place = ['paths', template, method.toLowerCase(), 'requestBody', 'content', 'application/json']
    const sent: object = JSON.parse(JSON.stringify(body))
    t.not(document.check([...place, 'schema'], sent), null, `${named} is forbidden`)
    const path = `${template.replace(/\{(\w+)\}/g, (_, name: string) => PARAMS[name] ?? '')}?dryRun=true`
    t.match(await world.call({ admin: true, token, method, path, body: sent }), { status: 400, code }, named)
  }
})

const FORBIDDEN_IN_QUERIES: readonly (readonly [operation: string, name: string, value: string])[] = [
  ['scrub', 'wait', '60001ms'],
  ['scrub', 'wait', '05s'],
  ['queryAuditLog', 'since', '1h1'],
  ['queryAuditLog', 'since', '1234567890s'],
  ['queryAuditLog', 'actor', 'a'.repeat(129)],
  ['queryAuditLog', 'key', 'a'.repeat(1025)],
  ['queryAuditLog', 'continuationToken', 'a'.repeat(22)],
  ['listTenants', 'continuationToken', 'a'.repeat(22)],
]

t.test('what the document forbids in a query is refused', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('owner')
  for (const [operation, name, value] of FORBIDDEN_IN_QUERIES) {
    const { path, method, parameters = [] } = document.operation(operation)
    const at = parameters.findIndex((parameter) => parameter.name === name)
    const place = ['paths', path, method.toLowerCase(), 'parameters', `${at}`, 'schema']
    t.not(document.check(place, value), null, `${operation} forbids ${name}=${value.slice(0, 30)}`)
    const body = method === 'POST' ? { body: { reason } } : {}
    const query = new URLSearchParams({ [name]: value }).toString()
    const asked = { admin: true, token, method, path: `${path}?${query}`, ...body }
    t.match(await world.call(asked), { status: 400 }, `${operation} refuses ${name}=${value.slice(0, 30)}`)
  }
})

const ALLOWED: readonly (readonly [operation: string, body: object])[] = [
  ['setTenantLimits', { tenant: {} }],
  ['createTenantKey', { scopes: ' read , write' }],
  ['createTenantKey', { scopes: 'op=read:bucket=*:prefix=a:b=c, op=write:bucket=photos:prefix=' }],
  ['createTenantKey', { expiresAt: '2099-01-31' }],
  ['createTenantKey', { allowedAddresses: ['203.0.113.7', '2001:db8::/32', '::ffff:10.0.0.1'] }],
  ['createTenantKey', { clientCertificates: [`sha256:${'aB:'.repeat(31)}00`, 'cn:\u{1F600} a'] }],
  ['setTenantBucketPolicy', policy({}, { Version: '2008-10-17', Id: '' })],
  ['setTenantBucketPolicy', policy({ Principal: { AWS: ['*'] }, Resource: 'arn:aws:s3:::photos/$a$' })],
  [
    'setTenantBucketPolicy',
    policy({ Condition: { StringLikeIfExists: { 'AWS:Username': ['A*'] }, Null: { 'aws:SourceIp': true } } }),
  ],
]

t.test('what the server takes the document allows', async (t) => {
  const { world } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  for (const [operation, body] of ALLOWED) {
    const named = `${operation} ${JSON.stringify(body).slice(0, 120)}`
    const { path: template, method } = document.operation(operation)
    const place = ['paths', template, method.toLowerCase(), 'requestBody', 'content', 'application/json']
    t.equal(document.check([...place, 'schema'], body), null, `${named} is allowed`)
    const path = `${template.replace(/\{(\w+)\}/g, (_, name: string) => PARAMS[name] ?? '')}?dryRun=true`
    t.match(await world.call({ admin: true, token, method, path, body }), { status: 200 }, named)
  }
})
