/**
 * `npm run console:pictures -- FOLDER`: pictures of every screen of the console at two widths and in two themes, from three real nodes with something to show.
 *
 * Owns: what is shown. Rule: pictures are for looking at; nothing compares them. Two of them, smaller, are in README.md: copy those from the folder when
 * the console has changed so much that they mislead.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../../helpers/chromium.ts'
import { ConsoleDriver } from '../../helpers/console-driver.ts'
import { SCREENS } from '../../helpers/console-page.ts'
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import { Endings } from './endings.ts'

const SIZES = [
  { width: 1280, height: 860 },
  { width: 360, height: 780 },
]
const THEMES = ['light', 'dark'] as const
/** Tabs of the rules of a bucket. */
const RULES = [
  ['lifecycle', 'No rule'],
  ['replication', 'This bucket is not replicated.'],
  ['notifications', 'No webhook'],
  ['cors', 'No rule'],
] as const

async function take(folder: string, driver: ConsoleDriver, name: string): Promise<void> {
  for (const { width, height } of SIZES)
    for (const theme of THEMES) {
      await driver.page.resize(width, height)
      await driver.page.prefer(theme)
      writeFileSync(
        join(folder, `${name.replace('/', '-')}-${width}-${theme}.png`),
        await driver.page.picture(),
      )
    }
}

/** One that is committed: light, wide, without empty space below. */
async function takeForReadme(folder: string, driver: ConsoleDriver, name: string): Promise<void> {
  await driver.page.resize(1280, 720)
  await driver.page.prefer('light')
  writeFileSync(join(folder, `${name}.webp`), await driver.page.picture('webp'))
}

async function main(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const endings = new Endings()
  try {
    const cluster = await ProcessCluster.start(endings, 3)
    const browser = await Browser.start(endings)
    if (browser === null) throw new Error(`No browser. ${HOW_TO_HAVE_ONE}`)
    const [first] = cluster.plan
    if (first === undefined) throw new Error('there is no node')
    const driver = await ConsoleDriver.open(browser, first.adminUrl)
    await take(folder, driver, 'log-in')
    await driver.logIn(cluster.setup.ownerToken)
    for (const [screen, words] of SCREENS) {
      await driver.go(screen)
      await driver.sees(words)
      await take(folder, driver, screen)
    }
    const { accessKeyId, secretKey } = cluster.setup
    if (accessKeyId !== null && secretKey !== null) {
      await driver.go('objects')
      await driver.logInWithKey(accessKeyId, secretKey)
      await driver.click('Create a bucket')
      await driver.fill('Name', 'letters')
      await driver.click('Create')
      await driver.sees('1 bucket')
      await take(folder, driver, 'objects')
      await driver.click('letters')
      await driver.sees('Nothing is here.')
      await take(folder, driver, 'bucket')
      for (const [tab, words] of RULES) {
        await driver.go(`bucket/letters/${tab}`)
        await driver.sees(words)
        await take(folder, driver, `rules-${tab}`)
      }
    }
    await driver.go('cluster')
    await driver.plans('Demote: n2', { Reason: 'The machine is replaced' }, 'What will happen')
    await take(folder, driver, 'plan')
    await takeForReadme(folder, driver, 'console-plan')
    await driver.click('Close')
    await driver.go('tenants/demo')
    await driver.click('Create an access key')
    await driver.sees('Service account')
    await take(folder, driver, 'key')
    await driver.click('Close')
    await cluster.signal('n3', 'SIGKILL')
    await driver.go('health')
    await driver.sees('n3 does not answer')
    await take(folder, driver, 'degraded')
    await takeForReadme(folder, driver, 'console-health')
  } finally {
    await endings.run()
  }
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: pictures.ts FOLDER')
await main(folder)
