/**
 * Puts the bug named by HOLDFAST_MUTANT into the source as it is loaded: `node --import ./test/programs/mutants/switch.ts ...`.
 *
 * Owns: the change of text. Rule: a mutant whose text is not found exactly once stops the run; a mutant that changes nothing would
 * be reported as a survivor, or worse, as killed.
 */
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { changedText } from './changed-text.ts'
import { mutantOf } from './mutants.ts'

const mutant = mutantOf(process.env['HOLDFAST_MUTANT'])
const { href } = new URL(`../../../${mutant.file}`, import.meta.url)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (url !== href) return loaded
    assert(loaded.source, `${url} was loaded as text`)
    const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
    return { ...loaded, source: changedText(mutant, text) }
  },
})
