/**
 * `config print`: every setting with its value and source, without secrets, as a valid configuration.
 */
import fc from 'fast-check'
import t from 'tap'
import { effectiveSettings, effectiveText } from '../../src/config/effective-settings.ts'
import { maskSecrets } from '../../src/config/mask-secrets.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { examined, SMALLEST } from './written-config.ts'

t.test('the effective settings', async (t) => {
  const found = examined(t, `${SMALLEST}audit: { keep: 30d }\n`, {
    HOLDFAST_NODE__ZONE: 'rack-1',
    HOLDFAST_AUDIT__KEEP: '31d',
  })
  const settings = effectiveSettings(found)

  t.test(
    'are all of them, in the order of the reference, with their origins [admin.config-print]',
    async (t) => {
      t.same(
        settings.map(({ name }) => name),
        SETTINGS.map(({ name }) => name),
      )
      const of = (name: string) => settings.find((each) => each.name === name)
      t.match(of('node.id'), { value: 'n1', origin: 'file', where: /node\.yaml:1$/ })
      t.match(of('node.zone'), {
        value: 'rack-1',
        origin: 'environment',
        where: 'environment variable HOLDFAST_NODE__ZONE',
      })
      t.match(of('audit.keep'), { value: '31d', origin: 'environment' })
      t.match(of('repair.scrub_every'), { value: '7d', origin: 'default', where: null })
      t.match(of('node.data_dir'), { value: /^\/.*\/data$/ })
      t.match(of('peer_tls.ca'), { value: null, origin: 'default' })
    },
  )

  t.test('are a valid configuration with the same values', async (t) => {
    const again = examined(t, effectiveText(settings))
    t.same(again.faults, [])
    t.same(again.config, found.config)
    const strange = examined(
      t,
      SMALLEST.replace('test-cluster', '0012345678').replace('data_dir: data', "data_dir: 'a #b: c'"),
    )
    t.same(examined(t, effectiveText(effectiveSettings(strange))).config, strange.config)
  })

  t.test('show no token that is in a URL', async (t) => {
    const url = 'https://files.example.org/hooks/T0abcdefghij0123456789'
    const shown = effectiveText(
      effectiveSettings(examined(t, SMALLEST, { HOLDFAST_LISTENERS__PUBLIC_URL: url })),
    )
    t.match(shown, 'public_url: https://files.example.org/hooks/***')
    t.notMatch(shown, /T0abc/)
  })
})

t.test('maskSecrets', async (t) => {
  const secret = 'pX4kQ7wZ1mN8vB3cR6tY9uI2oP5aS0dF-gH_jK4lZ7x'
  for (const [text, masked] of [
    ['https://user:secret@host/path', 'https://***@host/path'],
    ['https://host/path?token=secret#secret', 'https://host/path?***'],
    ['https://host/services/T01/B0secret0secret0secret0', 'https://host/services/T01/***'],
    [`svcadm_${secret}`, 'svcadm_***'],
    [`holdfast-master-key-1:mk-1:${secret}`, 'holdfast-master-key-1:mk-1:***'],
    [`got '${secret}'`, "got '***'"],
    ['-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n', '-----BEGIN PRIVATE KEY----- ***\n'],
  ] as const)
    t.equal(maskSecrets(text), masked)

  for (const plain of [
    'expected a duration such as 100ms, got 5',
    '/var/lib/holdfast/0123456789/data',
    'https://files.example.org:8443/a/b',
    '8f5af5d8-a360-490e-a12b-1aa25eb553bf',
  ])
    t.equal(maskSecrets(plain), plain)

  t.test('never shows the credentials or the query of a URL', async () => {
    const word = fc.stringMatching(/^[A-Za-z0-9:._-]{12,30}$/)
    fc.assert(
      fc.property(word, word, fc.stringMatching(/^[a-z]{1,5}$/), (userinfo, query, path) => {
        const masked = maskSecrets(`got 'https://${userinfo}@host/${path}?${query}' here`)
        return !masked.includes(userinfo) && !masked.includes(query) && masked.endsWith("***' here")
      }),
      { numRuns: 300 },
    )
  })
})
