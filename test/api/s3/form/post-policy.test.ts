/**
 * Policies of browser forms: what they allow, and that nothing else is.
 */
import t from 'tap'
import { checkPostPolicy, readPostPolicy } from '../../../../src/api/s3/form/post-policy.ts'

const NOW = Date.UTC(2026, 10, 26, 12)
const ENDS = '2026-11-26T13:00:00.000Z'
const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')
const read = (conditions: unknown, expiration: unknown = ENDS) =>
  readPostPolicy(encoded({ expiration, conditions }))
const check = (conditions: unknown, fields: Readonly<Record<string, string>>, now = NOW) =>
  checkPostPolicy(read(conditions), new Map(Object.entries(fields)), now)

const BASE = [{ bucket: 'photos' }, ['starts-with', '$key', 'user/']]
const FIELDS = { bucket: 'photos', key: 'user/a.jpg' }
const DENIED = { name: 'FormFault', code: 'AccessDenied' }

t.test('readPostPolicy refuses what is no policy', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    'no base64': '%%%',
    'no JSON': encoded('hello'),
    'a list': encoded([]),
    'a number': encoded('7'),
    'no expiration': encoded({ conditions: [] }),
    'EXPIRATION in capitals': encoded({ EXPIRATION: ENDS, conditions: [] }),
    'an expiration in another form': encoded({ expiration: '2026-11-26 13:00:00', conditions: [] }),
    'an expiration with an offset': encoded({ expiration: '2026-11-26T13:00:00+01:00', conditions: [] }),
    'an expiration of no calendar': encoded({ expiration: '2026-13-40T13:00:00Z', conditions: [] }),
    'a number as expiration': encoded({ expiration: 1, conditions: [] }),
    'no conditions': encoded({ expiration: ENDS }),
    'CONDITIONS in capitals': encoded({ expiration: ENDS, CONDITIONS: [] }),
    'conditions that are no list': encoded({ expiration: ENDS, conditions: {} }),
    'an empty condition': encoded({ expiration: ENDS, conditions: [{}] }),
    'an empty list as condition': encoded({ expiration: ENDS, conditions: [[]] }),
    'a text as condition': encoded({ expiration: ENDS, conditions: ['key'] }),
    null: encoded({ expiration: ENDS, conditions: [null] }),
    'a pair with a number': encoded({ expiration: ENDS, conditions: [{ key: 1 }] }),
    'another operator': encoded({ expiration: ENDS, conditions: [['ends-with', '$key', 'a']] }),
    'an operator that is no text': encoded({ expiration: ENDS, conditions: [[1, '$key', 'a']] }),
    'a field without $': encoded({ expiration: ENDS, conditions: [['eq', 'key', 'a']] }),
    'two members': encoded({ expiration: ENDS, conditions: [['eq', '$key']] }),
    'four members': encoded({ expiration: ENDS, conditions: [['eq', '$key', 'a', 'b']] }),
    'a size range of one': encoded({ expiration: ENDS, conditions: [['content-length-range', 0]] }),
    'a size below 0': encoded({ expiration: ENDS, conditions: [['content-length-range', -1, 0]] }),
    'half a byte': encoded({ expiration: ENDS, conditions: [['content-length-range', 0.5, 1]] }),
    'sizes in the wrong order': encoded({ expiration: ENDS, conditions: [['content-length-range', 2, 1]] }),
    'a name twice': encoded(`{"expiration":"${ENDS}","conditions":[],"conditions":[{"bucket":"a"}]}`),
    'a field twice in one condition': encoded(`{"expiration":"${ENDS}","conditions":[{"a":"1","a":"2"}]}`),
    'more names than any policy has': encoded({
      expiration: ENDS,
      conditions: Array.from({ length: 1100 }, (_, at) => ({ [`a${at}`]: 'b' })),
    }),
  }
  for (const [what, policy] of Object.entries(cases))
    t.throws(() => readPostPolicy(policy), { name: 'FormFault', code: 'InvalidPolicyDocument' }, what)
})

t.test('checkPostPolicy', async (t) => {
  t.test('allows a form that meets every condition', async (t) => {
    t.same(check(BASE, FIELDS), { min: 0, max: Number.POSITIVE_INFINITY })
    t.same(check([...BASE, ['content-length-range', 1, '10'], ['Content-Length-Range', 0, 7]], FIELDS), {
      min: 1,
      max: 7,
    })
  })

  t.test('takes names and operators in any case, values as they are', async (t) => {
    const conditions = [{ BUCKET: 'photos' }, ['StArTs-WiTh', '$KeY', 'user/'], ['EQ', '$Acl', 'private']]
    check(conditions, { ...FIELDS, acl: 'private' })
    t.throws(() => check(conditions, { ...FIELDS, acl: 'Private' }), DENIED)
  })

  t.test('refuses a value that differs', async (t) => {
    t.throws(() => check(BASE, { ...FIELDS, key: 'other/a.jpg' }), DENIED)
    t.throws(() => check(BASE, { ...FIELDS, bucket: 'other' }), DENIED)
    t.throws(() => check([...BASE, ['eq', '$x-amz-meta-a', '']], { ...FIELDS, 'x-amz-meta-a': 'b' }), DENIED)
  })

  t.test('refuses a field that is missing, also where any text would do', async (t) => {
    t.throws(() => check([...BASE, ['starts-with', '$x-amz-meta-a', 'b']], FIELDS), DENIED)
    t.throws(() => check([...BASE, ['starts-with', '$x-amz-meta-a', '']], FIELDS), DENIED)
  })

  t.test('refuses a field that no condition covers, the bucket too', async (t) => {
    const message = /no condition for the field "x-amz-meta-a"/
    t.throws(() => check(BASE, { ...FIELDS, 'x-amz-meta-a': 'b' }), { ...DENIED, message })
    t.throws(() => check([['starts-with', '$key', '']], FIELDS), { ...DENIED, message: /"bucket"/ })
    for (const name of [
      'success_action_redirect',
      'x-amz-tagging',
      'x-amz-checksum-mode',
      'x-ignored',
      'xx-ignore-a',
    ])
      t.throws(() => check(BASE, { ...FIELDS, [name]: 'a' }), DENIED, name)
  })

  t.test('needs no condition for what is no part of the object, or only narrows it', async (t) => {
    const exempt = ['policy', 'x-amz-signature', 'x-ignore-a', 'x-amz-checksum-sha256', 'content-md5']
    const found = check(BASE, { ...FIELDS, ...Object.fromEntries(exempt.map((name) => [name, 'a'])) })
    t.equal(found.min, 0)
  })

  t.test('looks at each content type of a list', async (t) => {
    const conditions = [...BASE, ['starts-with', '$Content-Type', 'image/']]
    check(conditions, { ...FIELDS, 'content-type': 'image/png, image/jpeg' })
    t.throws(() => check(conditions, { ...FIELDS, 'content-type': 'image/png,text/html' }), DENIED)
  })

  t.test('ends at its expiration', async (t) => {
    const end = Date.parse(ENDS)
    check(BASE, FIELDS, end - 1)
    t.throws(() => check(BASE, FIELDS, end), { ...DENIED, message: /expired/ })
  })
})
