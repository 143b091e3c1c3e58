/**
 * The saved searches of the audit log: repeated, added, removed.
 */
import { useState } from 'preact/hooks'
import { NAME_CHARACTERS_MAX, savedWith } from '../forms/saved-searches.ts'
import { BY_TOKEN } from '../parts/access.ts'
import { Button, RowButton } from '../parts/basics.tsx'
import { LineButton } from '../parts/curl-line.tsx'
import { Field } from '../parts/form.tsx'
import { ask, pageOf, search } from '../state/audit-data.ts'
import { savedSearches } from '../state/saved-searches.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.audit

export function SavedSearches() {
  const [name, setName] = useState('')
  const saved = savedSearches.value
  return (
    <details class="saved">
      <summary>{SAYS.saved(saved.length)}</summary>
      <div class="stack">
        <ul class="rules" aria-label={SAYS.savedTitle}>
          {saved.map((one) => (
            <li key={one.name}>
              <div class="head">
                <b>{one.name}</b>
                <RowButton
                  text={SAYS.search}
                  of={one.name}
                  onClick={() => {
                    search.value = one.search
                    void ask()
                  }}
                />
                <LineButton
                  of={`${SAYS.search}: ${one.name}`}
                  line={() => BY_TOKEN.line((api) => pageOf(api, one.search, null))}
                />
                <RowButton
                  text={TEXT.rules.remove}
                  of={one.name}
                  onClick={() => (savedSearches.value = saved.filter((other) => other !== one))}
                />
              </div>
            </li>
          ))}
        </ul>
        <form
          class="search"
          onSubmit={(event) => {
            event.preventDefault()
            savedSearches.value = savedWith(saved, { name, search: search.peek() })
            setName('')
          }}
        >
          <Field
            label={SAYS.saveAs}
            help={SAYS.saveHelp}
            value={name}
            onChange={setName}
            isRequired
            charsMax={NAME_CHARACTERS_MAX}
          />
          <Button type="submit">{TEXT.rules.save}</Button>
        </form>
      </div>
    </details>
  )
}
