/** The ends of certificates in a real browser, on a real node: where they are shown, and what is said to do. */
import { appendFileSync } from 'node:fs'
import t from 'tap'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import { isAccessible, loadAxe } from '../helpers/console-page.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'

t.test('a certificate that ends soon, in Chromium', { timeout: 600_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1, null, {
    beforeStart: async ({ plan: [first], setup }) => {
      if (first === undefined) return
      // Made for 30 days a moment ago: the warning begins.
      const tls = new MadeCertificates(t, setup.clusterId).issue(first.nodeId)
      appendFileSync(first.configFile, `\npeer_tls: ${JSON.stringify(tls)}\n`)
    },
  })
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: certificates in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const driver = await ConsoleDriver.open(browser, cluster.node('n1').adminUrl)
  await loadAxe(driver)
  await driver.logIn(cluster.setup.ownerToken)
  await driver.sees(/Soon\s+n1: peer_tls\.cert .* expires in 29 days[\s\S]*Issue it again/)
  await driver.go('cluster')
  await driver.sees(/A certificate ends soon[\s\S]*Certificates\s+peer_tls\.cert until/)
  await isAccessible(t, driver, 'a certificate that ends soon')
})
