import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../../access/operation.decorator.js';
import { hasScope, type Principal } from '../../access/scopes.js';
import { readTerm } from './search.rules.js';
import { MOST_HITS, SearchStore } from './search.store.js';
import { HIT_KINDS, SCOPE_OF_HIT, SearchTerm, SearchView } from './search.view.js';

@ApiTags('Customers')
@Controller('search')
export class SearchController {
  constructor(private readonly store: SearchStore) {}

  @Post()
  @HttpCode(200)
  @Operation([], {
    scopeOf: SCOPE_OF_HIT,
    command: 'search',
    safe: true,
    summary: 'Search everything by what a person has typed or pasted',
    description:
      `At most ${MOST_HITS} hits of each kind that the key may read: references that begin with the text, in any case (that of a discarded registration whole); an EAN or an id, also of an inverter, with ` +
      "anything around it; an invitation's link; words of metadata; parts of the names of campaigns. The text is in the body, so that it " +
      'is in no log.',
  })
  @ApiOkResponse({ type: SearchView })
  async search(@Body() { q }: SearchTerm, @CurrentKey() key: Principal): Promise<SearchView> {
    const kinds = HIT_KINDS.filter((kind) => hasScope(key, SCOPE_OF_HIT[kind]));
    const term = readTerm(q);
    return { items: term.text === '' ? [] : await this.store.find(term, kinds) };
  }
}
