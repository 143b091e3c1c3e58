/**
 * The fields of a browser form that are its signature.
 */
import t from 'tap'
import { readSignedPolicy } from '../../../src/access/signature-v4/signed-policy.ts'

const FIELDS = {
  policy: 'e30=',
  'x-amz-algorithm': 'AWS4-HMAC-SHA256',
  'x-amz-credential': 'HFKEY/20261126/eu-central-1/s3/aws4_request',
  'x-amz-date': '20261126T120000Z',
  'x-amz-signature': 'a'.repeat(64),
}
const read = (fields: Readonly<Record<string, string>>) => readSignedPolicy(new Map(Object.entries(fields)))

t.test('readSignedPolicy', async (t) => {
  t.same(read(FIELDS), {
    credential: { accessKeyId: 'HFKEY', date: '20261126', region: 'eu-central-1' },
    signedAtMs: Date.UTC(2026, 10, 26, 12),
    policy: 'e30=',
    signature: 'a'.repeat(64),
  })

  t.test('refuses a form that is not signed', async (t) => {
    t.throws(() => read({ key: 'a' }), { name: 'SignatureFault', code: 'AccessDenied' })
  })

  t.test('names version 2', async (t) => {
    t.throws(() => read({ ...FIELDS, awsaccesskeyid: 'a' }), { code: 'InvalidRequest', message: /version 2/ })
  })

  t.test('refuses a signature without one of its fields, or has one in another form', async (t) => {
    for (const name of Object.keys(FIELDS)) {
      const { [name]: _, ...others } = FIELDS as Readonly<Record<string, string>>
      t.throws(() => read(others), { code: 'InvalidArgument', message: new RegExp(name) }, name)
    }
    for (const [name, value] of [
      ['x-amz-algorithm', 'AWS4-ECDSA-P256-SHA256'],
      ['x-amz-credential', 'HFKEY/20261126/eu-central-1/iam/aws4_request'],
      ['x-amz-credential', 'HFKEY/20261125/eu-central-1/s3/aws4_request'],
      ['x-amz-date', '2026-11-26T12:00:00Z'],
      ['x-amz-signature', 'A'.repeat(64)],
    ] as const)
      t.throws(() => read({ ...FIELDS, [name]: value }), { code: 'InvalidArgument' }, name)
  })
})
