/**
 * The sentence of each setting that says what to write: the hint of every fault of its value, and a column of docs/configuration.md.
 */
import t from 'tap'
import { examineConfig } from '../../src/config/load-config.ts'
import type { Setting } from '../../src/config/settings/setting.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { configurationPage } from '../../scripts/pages/configuration.ts'
import { brokenValues } from './broken-values.ts'
import { withSettings, writeConfig } from './written-config.ts'

const ALL: readonly Setting[] = SETTINGS

t.test('every setting has a sentence that says what to write', async (t) => {
  const sentences = new Set(ALL.map(({ advice }) => advice))
  t.equal(sentences.size, ALL.length, 'each has its own')
  for (const { name, advice } of ALL) {
    t.match(advice, /^[A-Z][^\n]*[^.]\.$/, `${name}: a capital letter and one full stop at the end`)
    t.ok(advice.includes(`, for example ${name}: `), `${name}: an example`)
  }
})

t.test('its example is a value that a node accepts', async (t) => {
  for (const { name, advice } of ALL) {
    const example = advice.slice(advice.indexOf(`for example ${name}: `) + `for example ${name}: `.length, -1)
    const { faults } = examineConfig(writeConfig(t, withSettings({ [name]: example })), {})
    t.same(
      faults.filter(({ setting }) => setting !== null),
      [],
      `${name}: ${example}`,
    )
  }
})

t.test('it is the hint of each wrong value, and of a missing one', async (t) => {
  for (const setting of ALL) {
    const { name, advice } = setting
    for (const { what, text } of brokenValues(setting)) {
      if (text === '') continue
      const { faults } = examineConfig(writeConfig(t, withSettings({ [name]: text })), {})
      t.match(faults, [{ setting: name, hint: advice }], `${name}: ${what}`)
    }
  }
  for (const { name, advice } of ALL.filter(({ fallback, optional }) => fallback === null && !optional)) {
    const [fault] = examineConfig(writeConfig(t, withSettings({ [name]: null })), {}).faults
    t.ok(fault?.hint.startsWith(advice), `${name} is missing: ${fault?.hint}`)
  }
})

t.test('docs/configuration.md shows it', async (t) => {
  const page = configurationPage()
  for (const { name, advice } of ALL) t.ok(page.includes(`| ${advice} |`), name)
})
