import { Button, MultiSelect, Popover, TagsInput, TextInput } from '@mantine/core';
import { ListFilter } from 'lucide-react';
import { useState } from 'react';
import { visibilities } from '../../../src-preload/contract/changeset.ts';
import { unspecified } from '../../../src-preload/contract/memory.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { changed, countHidden, dayEnd, dayOf, dayStart, type MemoryFilter } from './memory-filter.ts';

interface MemoryFiltersProps {
  readonly filter: MemoryFilter;
  readonly change: (filter: MemoryFilter) => void;
}

const visibilityChoices = [...visibilities, unspecified] as const;
const trustHints = ['user_approved', 'inference', 'model_inference', unspecified];

/** Visibility, scope, author, trust and time, behind one button that says how many of them restrict the list. */
export function MemoryFilters({ filter, change }: MemoryFiltersProps) {
  const people = useEngineQuery('principal.list', {});
  const status = useEngineQuery('engine.status', {});
  const [opened, setOpened] = useState(false);
  const active = countHidden(filter);
  const set = (part: MemoryFilter): void => change(changed(filter, part));
  const known = [...(people.data?.principals ?? []), ...(status.data === undefined ? [] : [status.data.owner])];
  const names = new Map(known.map(({ principal_id: id, name }) => [String(id), plainLine(name, 60)]));
  const authors = [...names].map(([value, label]) => ({ value, label }));
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={320} shadow="md" trapFocus>
      <Popover.Target>
        <Button
          variant={active === 0 ? 'default' : 'light'}
          leftSection={<ListFilter size={14} aria-hidden />}
          onClick={() => setOpened(!opened)}
          aria-label={active === 0 ? 'More filters' : `More filters, ${active} in use`}
        >
          {active === 0 ? 'Filters' : `Filters (${active})`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="More filters">
        <div className="mg-form">
          <MultiSelect
            size="xs"
            label="Visibility"
            clearable
            data={[...visibilityChoices]}
            value={[...(filter.visibilities ?? [])]}
            onChange={(chosen) => set({ visibilities: visibilityChoices.filter((one) => chosen.includes(one)) })}
            comboboxProps={{ withinPortal: false }}
          />
          <TagsInput
            size="xs"
            label="Scope"
            clearable
            maxTags={64}
            value={[...(filter.scopes ?? [])]}
            onChange={(scopes) => set({ scopes })}
          />
          <MultiSelect
            size="xs"
            label="Last changed by"
            clearable
            searchable
            data={authors}
            value={[...(filter.authors ?? [])]}
            onChange={(chosen) => set({ authors: chosen })}
            comboboxProps={{ withinPortal: false }}
          />
          <TagsInput
            size="xs"
            label="Trust"
            clearable
            data={trustHints}
            maxTags={64}
            value={[...(filter.trusts ?? [])]}
            onChange={(trusts) => set({ trusts })}
            comboboxProps={{ withinPortal: false }}
          />
          <div className="mg-memory-days">
            <TextInput
              size="xs"
              type="date"
              label="Changed from"
              value={dayOf(filter.since)}
              onChange={(event) => set({ since: dayStart(event.currentTarget.value) })}
            />
            <TextInput
              size="xs"
              type="date"
              label="Changed until"
              value={dayOf(filter.until)}
              onChange={(event) => set({ until: dayEnd(event.currentTarget.value) })}
            />
          </div>
          <Button
            variant="default"
            disabled={active === 0}
            onClick={() => change(changed({}, { kinds: filter.kinds, tags: filter.tags }))}
          >
            Lift these filters
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
