/**
 * The addresses and credentials of a command: options take precedence over the environment, the environment over the default file.
 */
import t from 'tap'
import { CommandError, EXIT } from '../../src/cli/base/exit.ts'
import { adminAccess, dataAccess, tenantOf } from '../../src/cli/base/cluster-access.ts'

const CLUSTER = {
  nodes: [
    { dataUrl: 'http://127.0.0.1:9000', adminUrl: 'http://127.0.0.1:9001' },
    { dataUrl: 'http://127.0.0.1:9010', adminUrl: 'http://127.0.0.1:9011' },
  ],
  ownerToken: 'svcadm_of_the_file',
  tenantId: 'demo',
  accessKeyId: 'AKFILE',
  secretKey: 'secret of the file',
}
const ENVIRONMENT = {
  HOLDFAST_ACCESS_KEY_ID: 'AKENV',
  HOLDFAST_SECRET_KEY: 'secret of the environment',
  HOLDFAST_ADMIN_TOKEN: 'svcadm_of_the_environment',
}

function around(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  return { env, read: (file: string) => files[file] ?? null }
}

const FILE = { 'data/cluster.json': JSON.stringify(CLUSTER) }

/** Null when the call was not refused as a usage error. */
function refusal(work: () => unknown): CommandError | null {
  try {
    work()
    return null
  } catch (error) {
    return error instanceof CommandError && error.exitCode === EXIT.usage ? error : null
  }
}

t.test('in the folder of a local cluster no option is needed', async (t) => {
  t.same(dataAccess({}, around(FILE)), {
    endpoints: ['http://127.0.0.1:9000', 'http://127.0.0.1:9010'],
    accessKeyId: 'AKFILE',
    secretKey: 'secret of the file',
  })
  t.same(adminAccess({}, around(FILE)), {
    endpoints: ['http://127.0.0.1:9001', 'http://127.0.0.1:9011'],
    token: 'svcadm_of_the_file',
  })
  t.equal(tenantOf({}, around(FILE)), 'demo')
  t.equal(tenantOf({ tenant: 'acme' }, around(FILE)), 'acme')
})

t.test('the environment takes precedence over the default file', async (t) => {
  t.match(dataAccess({}, around(FILE, ENVIRONMENT)), { accessKeyId: 'AKENV' })
  t.match(adminAccess({}, around(FILE, ENVIRONMENT)), { token: 'svcadm_of_the_environment' })
  const withToken = { ...ENVIRONMENT, HOLDFAST_TOKEN: 'svctk_of_the_environment' }
  t.match(dataAccess({}, around(FILE, withToken)), { token: 'svctk_of_the_environment' })
})

t.test('a named file takes precedence over the environment', async (t) => {
  const files = {
    'other.json': JSON.stringify({ ...CLUSTER, accessKeyId: 'AKOTHER' }),
    token: ' svcadm_named \n',
  }
  t.match(dataAccess({ clusterFile: 'other.json' }, around(files, ENVIRONMENT)), { accessKeyId: 'AKOTHER' })
  t.match(adminAccess({ clusterFile: 'other.json' }, around(files, ENVIRONMENT)), {
    token: 'svcadm_of_the_file',
  })
  const named = { clusterFile: 'other.json', tokenFile: 'token' }
  t.match(adminAccess(named, around(files, ENVIRONMENT)), { token: 'svcadm_named' })
})

t.test('secrets of the default file go only to the nodes of that file', async (t) => {
  const elsewhere = 'https://store.example'
  t.equal(refusal(() => dataAccess({ endpoint: elsewhere }, around(FILE)))?.code, 'invalid_argument')
  t.equal(refusal(() => adminAccess({ adminEndpoint: elsewhere }, around(FILE)))?.code, 'token_missing')
  const mixed = `http://127.0.0.1:9000,${elsewhere}`
  t.ok(refusal(() => dataAccess({ endpoint: mixed }, around(FILE))))
  t.match(dataAccess({ endpoint: 'http://127.0.0.1:9010/' }, around(FILE)), {
    endpoints: ['http://127.0.0.1:9010'],
    accessKeyId: 'AKFILE',
  })
  t.match(dataAccess({ endpoint: elsewhere }, around(FILE, ENVIRONMENT)), {
    endpoints: [elsewhere],
    accessKeyId: 'AKENV',
  })
})

t.test('errors about missing or wrong values say what to do, and contain no secret', async (t) => {
  const cases = [
    () => dataAccess({}, around({})),
    () => adminAccess({}, around({})),
    () => tenantOf({}, around({})),
    () => dataAccess({ endpoint: 'store.example:9000' }, around({}, ENVIRONMENT)),
    () => dataAccess({ clusterFile: 'missing.json' }, around({}, ENVIRONMENT)),
    () => dataAccess({ clusterFile: 'odd' }, around({ odd: 'svcadm_not_json' }, ENVIRONMENT)),
    () => adminAccess({ adminEndpoint: 'http://a', tokenFile: 'missing' }, around({}, ENVIRONMENT)),
    () =>
      adminAccess({ adminEndpoint: 'http://a', tokenFile: 'empty' }, around({ empty: '\n' }, ENVIRONMENT)),
    () => dataAccess({ endpoint: 'http://a' }, around({}, { HOLDFAST_ACCESS_KEY_ID: 'AK' })),
  ]
  for (const [n, wrong] of cases.entries()) {
    const error = refusal(wrong)
    t.match(error?.hint, /./, `case ${n}: ${error?.message}`)
    t.notMatch(`${error?.message} ${error?.hint}`, /secret of|svcadm_/)
  }
})
