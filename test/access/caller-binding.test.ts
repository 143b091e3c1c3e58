/**
 * What a binding of an access key or admin token says, and which callers it lets through.
 */
import t from 'tap'
import { bindingRefusal, readBinding } from '../../src/access/caller-binding.ts'
import type { CallerBinding } from '../../src/state-machine/tenants/records.ts'

const HOLDER = {
  kind: 'adminToken',
  tokenId: 'adm_1',
  role: 'viewer',
  noKeys: false,
  tenantId: null,
} as const
const SHA = 'ab'.repeat(32)

function passes(binding: Partial<CallerBinding>, address: string, commonName: string | null = null): boolean {
  const certificate = commonName === null ? null : { sha256: SHA, commonName }
  const refusal = bindingRefusal(
    { addresses: [], certificates: [], ...binding },
    { address, certificate },
    HOLDER,
  )
  if (refusal !== null) t.match(refusal, { code: 'access_denied', principal: HOLDER })
  return refusal === null
}

t.test('a bound credential', async (t) => {
  await t.test('passes from the addresses of its list and from no other', async (t) => {
    const addresses = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7']
    for (const address of ['203.0.113.255', '2001:db8:1::1', '198.51.100.7', '::ffff:203.0.113.9'])
      t.ok(passes({ addresses }, address), address)
    t.ok(passes({ addresses: ['fe80::/10'] }, 'fe80::1%eth0'), 'whatever the interface')
    for (const address of ['203.0.114.0', '2001:db9::1', '198.51.100.8', '127.0.0.1', '', 'unix:socket'])
      t.notOk(passes({ addresses }, address), address)
  })

  await t.test('passes with a certificate of its list and with no other', async (t) => {
    t.ok(passes({ certificates: ['cn:ci'] }, '::1', 'ci'))
    t.ok(passes({ certificates: ['cn:other', `sha256:${SHA}`] }, '::1', 'ci'))
    t.notOk(passes({ certificates: ['cn:ci'] }, '::1', 'ci2'))
    t.notOk(passes({ certificates: ['cn:ci', `sha256:${'cd'.repeat(32)}`] }, '::1'), 'none was shown')
    const nameless = { address: '::1', certificate: { sha256: SHA, commonName: null } }
    const binding = { addresses: [], certificates: ['cn:null'] }
    t.match(bindingRefusal(binding, nameless, HOLDER), { code: 'access_denied', gate: 'certificate' })
  })

  await t.test('needs both where both are bound', async (t) => {
    const both = { addresses: ['::1'], certificates: ['cn:ci'] }
    t.ok(passes(both, '::1', 'ci'))
    t.notOk(passes(both, '::2', 'ci'))
    t.notOk(passes(both, '::1', 'no'))
  })

  await t.test('passes nowhere by an entry that this version cannot read', async (t) => {
    t.notOk(passes({ addresses: ['region:eu'] }, '::1'))
    t.notOk(passes({ certificates: ['spki:x'] }, '::1', 'spki:x'))
  })
})

t.test('readBinding', async (t) => {
  t.equal(readBinding({}), undefined)
  const present = { addresses: ['::1'], certificates: ['cn:a'] }
  t.strictSame(
    readBinding({ addresses: [] }, present),
    { addresses: [], certificates: ['cn:a'] },
    'keeps the rest',
  )
  const spelt = `SHA256:${SHA.toUpperCase().match(/../g)?.join(':')}`
  t.strictSame(
    readBinding({ certificates: [spelt] })?.certificates,
    [`sha256:${SHA}`],
    'one spelling is kept',
  )
  for (const address of [
    '',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0',
    'localhost',
    'fe80::1%eth0',
    '::/129',
    '1.2.3.4/24/1',
  ])
    t.throws(() => readBinding({ addresses: [address] }), { code: 'invalid_argument' }, address)
  for (const name of [
    '',
    'cn:',
    'ci',
    `sha256:${SHA.slice(2)}`,
    `sha256:${SHA}00`,
    'cn:a\nb',
    `cn:${'x'.repeat(257)}`,
  ])
    t.throws(() => readBinding({ certificates: [name] }), { code: 'invalid_argument' }, name)
})
