/**
 * The questions to the audit log that have a name: asked again, kept, removed.
 */
import { useState } from 'preact/hooks'
import { savedWith } from '../forms/saved-questions.ts'
import { Button, RowButton } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { ask, question } from '../state/audit-data.ts'
import { savedQuestions } from '../state/saved-questions.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.audit

export function SavedQuestions() {
  const [name, setName] = useState('')
  const saved = savedQuestions.value
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
                    question.value = one.question
                    void ask()
                  }}
                />
                <RowButton
                  text={TEXT.rules.remove}
                  of={one.name}
                  onClick={() => (savedQuestions.value = saved.filter((other) => other !== one))}
                />
              </div>
            </li>
          ))}
        </ul>
        <form
          class="search"
          onSubmit={(event) => {
            event.preventDefault()
            savedQuestions.value = savedWith(saved, { name, question: question.peek() })
            setName('')
          }}
        >
          <Field
            label={SAYS.saveAs}
            help={SAYS.saveHelp}
            value={name}
            onChange={setName}
            isRequired
            charsMax={60}
          />
          <Button type="submit">{TEXT.rules.save}</Button>
        </form>
      </div>
    </details>
  )
}
