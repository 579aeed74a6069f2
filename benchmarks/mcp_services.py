"""Thirty services with ten tools each, sentences that are about one of them, and a server that plays one.

`python -m benchmarks.mcp_services NAME` is that server, over stdio and without the SDK, so that thirty of
them start in the time that one of the SDK's takes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Service:
    """`actions` are verb and object; `asked` are pairs of a sentence and the action that it is about."""

    name: str
    about: str
    actions: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]


def _service(name: str, about: str, actions: str, *asked: str) -> Service:
    pairs = (text.rpartition(" > ") for text in asked)
    return Service(name, about, tuple(actions.split()), tuple((said, action) for said, _arrow, action in pairs))


SERVICES = (
    _service(
        "files",
        "the disk",
        "read_file write_file list_directory move_file delete_file search_files get_file_info"
        " create_directory copy_file read_many_files",
        "what is in the file shopping.txt > read_file",
        "list the directory with my photos > list_directory",
    ),
    _service(
        "github",
        "the code host",
        "create_issue list_issues close_issue create_pull_request merge_pull_request list_commits"
        " star_repository fork_repository search_code create_branch",
        "create an issue that the build is broken > create_issue",
        "merge the pull request of Ada > merge_pull_request",
    ),
    _service(
        "mail",
        "the mailbox",
        "send_email read_email search_email archive_email draft_email forward_email reply_email"
        " label_email delete_email list_folders",
        "send an email to Mara that I am late > send_email",
        "reply to the email from the bank > reply_email",
    ),
    _service(
        "calendar",
        "the calendar",
        "create_event list_events update_event cancel_event find_free_time invite_guest"
        " accept_invitation decline_invitation set_working_hours list_calendars",
        "cancel my event tomorrow at three > cancel_event",
        "find free time for lunch with Tom > find_free_time",
    ),
    _service(
        "weather",
        "the weather",
        "current_weather hourly_forecast daily_forecast rain_radar pollen_level air_quality"
        " sunrise_sunset wind_speed weather_alerts uv_index",
        "how is the air quality today > air_quality",
        "when is the sunrise tomorrow > sunrise_sunset",
    ),
    _service(
        "music",
        "the music library",
        "play_song pause_music skip_track search_artist create_playlist add_to_playlist like_song"
        " set_music_volume current_song play_album",
        "play the album of the blue whale > play_album",
        "add this to my party playlist > add_to_playlist",
    ),
    _service(
        "trains",
        "the railway",
        "train_departures train_delays book_ticket cancel_ticket find_connection station_info"
        " seat_reservation platform_change season_ticket train_position",
        "are there delays on the train to Basel > train_delays",
        "book a ticket to Hamburg for Friday > book_ticket",
    ),
    _service(
        "notes",
        "the notebook",
        "append_note find_note create_note delete_note tag_note link_notes export_note pin_note"
        " list_notebooks daily_note",
        "append milk to my shopping note > append_note",
        "pin the note about the boiler > pin_note",
    ),
    _service(
        "stocks",
        "the stock exchange",
        "stock_price price_history exchange_rate portfolio_value market_news dividend_dates"
        " compare_stocks set_price_alarm earnings_report index_level",
        "what is the exchange rate of the dollar > exchange_rate",
        "what is my portfolio worth > portfolio_value",
    ),
    _service(
        "recipes",
        "the cook book",
        "find_recipe save_recipe scale_recipe shopping_list_for_recipe recipe_nutrition suggest_dinner"
        " convert_units cooking_timer substitute_ingredient rate_recipe",
        "find a recipe with leeks and potatoes > find_recipe",
        "what can I substitute for the ingredient butter > substitute_ingredient",
    ),
    _service(
        "maps",
        "the map",
        "geocode_address route_by_car route_by_bike nearby_places traffic_jams parking_spots"
        " elevation_profile opening_hours charging_stations distance_between",
        "is there a traffic jam on the way to work > traffic_jams",
        "where are charging stations for my car > charging_stations",
    ),
    _service(
        "wiki",
        "the encyclopaedia",
        "search_article article_summary random_article article_history translate_article article_images"
        " list_categories article_links on_this_day article_sections",
        "give me a summary of the article on volcanoes > article_summary",
        "what happened on this day > on_this_day",
    ),
    _service(
        "database",
        "the database",
        "run_query list_tables describe_table insert_row export_table explain_query create_index"
        " table_size backup_database list_users",
        "describe the table of customers > describe_table",
        "make a backup of the database > backup_database",
    ),
    _service(
        "docker",
        "the containers",
        "list_containers start_container stop_container container_logs pull_image remove_image"
        " container_stats build_image list_volumes restart_container",
        "show me the logs of the web container > container_logs",
        "restart the container with the cache > restart_container",
    ),
    _service(
        "chat",
        "the team chat",
        "post_message list_channels channel_history join_channel upload_snippet set_status"
        " direct_message add_reaction start_huddle search_messages",
        "set my status to lunch > set_status",
        "search the messages for the invoice > search_messages",
    ),
    _service(
        "photos",
        "the photo album",
        "search_photos create_album share_album rotate_photo photo_location delete_photo face_names"
        " slideshow edit_brightness favourite_photos",
        "start a slideshow of the holiday > slideshow",
        "share the album of the wedding with Grandma > share_album",
    ),
    _service(
        "fitness",
        "the fitness watch",
        "step_count heart_rate sleep_report start_workout stop_workout weekly_goal calories_burned"
        " body_weight running_route resting_pulse",
        "how many steps have I counted today > step_count",
        "how was my sleep last night > sleep_report",
    ),
    _service(
        "news",
        "the newspaper",
        "top_headlines local_news news_search read_newspaper_article subscribe_topic sports_results"
        " podcast_episodes election_results news_archive editorial",
        "what are the headlines > top_headlines",
        "read me the sports results > sports_results",
    ),
    _service(
        "shop",
        "the grocer",
        "search_product add_to_cart remove_from_cart place_order order_status delivery_slots"
        " reorder_last product_price coupon_codes return_item",
        "which delivery slots are there > delivery_slots",
        "put two cartons of oat milk into the cart > add_to_cart",
    ),
    _service(
        "library",
        "the public library",
        "search_book reserve_book renew_loan list_loans library_hours book_availability overdue_fees"
        " recommend_book audiobook_download reading_list",
        "renew my loans please > renew_loan",
        "reserve the book about bees > reserve_book",
    ),
    _service(
        "travel",
        "the travel agency",
        "search_flight flight_status book_hotel cancel_hotel rent_car visa_rules baggage_allowance"
        " boarding_pass travel_insurance airport_lounge",
        "what is the status of my flight > flight_status",
        "rent a car in Lisbon > rent_car",
    ),
    _service(
        "printer",
        "the printer",
        "print_document scan_document ink_level cancel_print paper_tray print_queue duplex_printing"
        " clean_nozzle copy_page printer_status",
        "how much ink is left > ink_level",
        "scan the document on the glass > scan_document",
    ),
    _service(
        "solar",
        "the solar roof",
        "power_now energy_today battery_level feed_in export_limit grid_price charge_battery"
        " inverter_status energy_forecast panel_temperature",
        "how full is the battery of the roof, its level > battery_level",
        "is the inverter working > inverter_status",
    ),
    _service(
        "garden",
        "the garden",
        "start_watering stop_watering soil_moisture frost_warning mow_lawn plant_calendar"
        " fertiliser_plan greenhouse_window compost_heat pest_report",
        "start watering the tomatoes > start_watering",
        "how moist is the soil, what is its moisture > soil_moisture",
    ),
    _service(
        "school",
        "the school",
        "homework_list timetable report_absence parent_letters canteen_menu exam_dates teacher_contact"
        " school_holidays grades bus_schedule",
        "what is on the canteen menu > canteen_menu",
        "report the absence of my son > report_absence",
    ),
    _service(
        "bank",
        "the bank",
        "account_balance list_transactions transfer_money standing_orders block_card loan_rate"
        " savings_plan find_branch bank_statement limit_change",
        "what is my account balance > account_balance",
        "block my card > block_card",
    ),
    _service(
        "translate",
        "the dictionary",
        "translate_text detect_language define_word synonym_of pronounce_word conjugate_verb"
        " spell_check rhyme_for example_sentence grammar_check",
        "translate good morning, that text, into Danish > translate_text",
        "conjugate the verb to swim > conjugate_verb",
    ),
    _service(
        "games",
        "the game server",
        "list_players kick_player game_score save_world load_world set_difficulty server_restart"
        " ban_player whisper_player world_seed",
        "who are the players on the server, list them > list_players",
        "save the world > save_world",
    ),
    _service(
        "parcels",
        "the parcel service",
        "track_parcel redirect_parcel parcel_locker return_label pickup_time customs_form parcel_cost"
        " missed_delivery sender_address parcel_photo",
        "track my parcel from Spain > track_parcel",
        "print a return label > return_label",
    ),
    _service(
        "astronomy",
        "the night sky",
        "moon_phase planet_positions iss_passes meteor_showers star_chart eclipse_dates"
        " constellation_of telescope_point light_pollution aurora_chance",
        "what phase has the moon > moon_phase",
        "when are the next meteor showers > meteor_showers",
    ),
)


# The same in words that the tools do not have: a search for words finds fewer of them.
PARAPHRASED = (
    ("what does my shopping list on the disk say", "files_read_file"),
    ("tell Mara by email that I will be late", "mail_send_email"),
    ("do I have anything on tomorrow", "calendar_list_events"),
    ("do I need an umbrella", "weather_hourly_forecast"),
    ("put on something by the blue whale", "music_play_song"),
    ("is my train on time", "trains_train_delays"),
    ("remember that the boiler man comes on Monday", "notes_create_note"),
    ("how are my shares doing", "stocks_portfolio_value"),
    ("what can I cook with leeks", "recipes_find_recipe"),
    ("how far is it to Berlin", "maps_distance_between"),
    ("who was Ada Lovelace, according to the encyclopaedia", "wiki_article_summary"),
    ("did I sleep well", "fitness_sleep_report"),
    ("what happened in the world today", "news_top_headlines"),
    ("order the same groceries as last time", "shop_reorder_last"),
    ("when does the library close", "library_library_hours"),
    ("is my flight delayed", "travel_flight_status"),
    ("water the garden", "garden_start_watering"),
    ("what is for lunch at school", "school_canteen_menu"),
    ("how much money do I have", "bank_account_balance"),
    ("where is my parcel", "parcels_track_parcel"),
)


def tools_of(service: Service) -> Iterator[dict[str, Any]]:
    for action in service.actions:
        words = action.replace("_", " ")
        yield {
            "name": action,
            "description": f"{words.capitalize()}: works with {service.about} of the person who asks, and"
            " answers in a few words. Give as much as was said, and leave out the rest.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": f"what is asked of {service.about}"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "at most so many"},
                    "when": {"type": "string", "description": "a day or a time, as it was said"},
                },
            },
            "annotations": {"readOnlyHint": True},
        }


def play(service: Service) -> None:
    """Be the service's server until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        result: dict[str, Any] | None = None
        match message.get("method"):
            case "initialize":
                result = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": service.name, "version": "1"},
                }
            case "tools/list":
                result = {"tools": list(tools_of(service))}
            case "tools/call":
                result = {"content": [{"type": "text", "text": f"{message['params']['name']} is done"}]}
        if "id" not in message:
            continue
        answer = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] == "silent":
        sys.stdin.read()
    else:
        play(next(service for service in SERVICES if service.name == sys.argv[1]))
